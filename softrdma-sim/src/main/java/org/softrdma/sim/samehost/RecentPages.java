package org.softrdma.sim.samehost;

/**
 * Pages of a peer that were read of late, so few that the processor probably has them in its second cache: fetching them
 * in advance would only take time. A guess; being wrong does no harm. One thread at a time.
 */
public final class RecentPages {
    /** Two megabytes of pages. Pages that lie side by side have places side by side. */
    private static final int PLACES = 512;

    private static final int PAGE_SHIFT = 12;
    private static final long NEVER_ZERO = 1L << (Long.SIZE - 1);

    private final long[] pages = new long[PLACES];

    /** None was read. */
    public RecentPages() {}

    /**
     * A page is about to be read.
     *
     * @param rkey of the region
     * @param address first address of the READ
     * @return true if it was read of late
     */
    public boolean isRecent(int rkey, long address) {
        long page = (address >>> PAGE_SHIFT) + (((long) rkey << PAGE_SHIFT) | NEVER_ZERO);
        int place = (int) page & (PLACES - 1);
        boolean recent = pages[place] == page;
        pages[place] = page;
        return recent;
    }
}
