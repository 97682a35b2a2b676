package org.softrdma.kv.client.rdma;

/**
 * Which items were named in touch reports of late, and how often: two words side by side for each, so that a look is
 * one cache miss. Shared by the clients of a loop that know one server, and owned by their thread. An item may take
 * the place of another, which then is named too often.
 */
public final class RecentlyNamed {
    /** The second time is what makes an item active in a segmented LRU. */
    static final int TIMES_PER_INTERVAL = 2;

    private static final int PLACES = 1 << 14;
    private static final int PLACE_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(PLACES);

    /** How often, in the low bits of since when, in nanoseconds; holds {@link #TIMES_PER_INTERVAL}. */
    private static final long TIMES = 0x3;

    private final long[] words = new long[2 * PLACES];

    /** Nothing was named yet. */
    public RecentlyNamed() {}

    /** True if an item was named {@link #TIMES_PER_INTERVAL} times in the interval. */
    boolean isNamedOften(long hash, long nowNs, long intervalNs) {
        int place = placeOf(hash);
        long named = words[place + 1];
        return words[place] == hash && (named & TIMES) >= TIMES_PER_INTERVAL && nowNs - (named & ~TIMES) < intervalNs;
    }

    /** An item is in a report; only then: what did not fit is named at the next occasion. */
    void named(long hash, long nowNs, long intervalNs) {
        int place = placeOf(hash);
        long named = words[place + 1];
        if (words[place] != hash || (named & TIMES) == 0 || nowNs - (named & ~TIMES) >= intervalNs) {
            words[place] = hash;
            named = nowNs & ~TIMES;
        }
        words[place + 1] = named + 1;
    }

    private static int placeOf(long hash) {
        return 2 * (int) (hash >>> PLACE_SHIFT);
    }
}
