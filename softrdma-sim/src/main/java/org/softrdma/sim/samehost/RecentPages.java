package org.softrdma.sim.samehost;

/**
 * Pages of a peer that were the last to be read, so few that the processor probably has them in its second cache:
 * fetching them in advance would only take time. A guess; being wrong does no harm. One thread at a time.
 */
public final class RecentPages {
    /** Two megabytes of pages. Pages that lie side by side have places side by side. */
    private static final int PLACES = 512;

    private static final int PAGE_SHIFT = 12;

    /** Bytes of a page. */
    public static final int PAGE = 1 << PAGE_SHIFT;

    private final long[] pages = new long[PLACES];

    /** None was read. */
    public RecentPages() {}

    /**
     * A page is about to be read.
     *
     * @param rkey of the region
     * @param address first address of the READ, which ends in that page or the next one
     * @return true if it was among the last ones
     */
    public boolean isRecent(int rkey, long address) {
        long page = (address >>> PAGE_SHIFT) ^ (long) ~rkey << Integer.SIZE; // 0 only where no key is
        int place = ((int) page ^ rkey) & (PLACES - 1); // where each item has a key of its own, all have address 0
        boolean recent = pages[place] == page;
        pages[place] = page;
        return recent;
    }
}
