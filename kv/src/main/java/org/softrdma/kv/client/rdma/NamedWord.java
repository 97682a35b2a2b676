package org.softrdma.kv.client.rdma;

/**
 * How often an item was named in recent touch reports: a word that is kept with its locator, so that to look at it
 * costs no cache miss of its own. 0 if it never was.
 *
 * <pre>
 *   63                                     18 17            2 1     0
 *  +-----------------------------------------+---------------+-------+
 *  | since when, ns / 2^18                   | generation    | times |
 *  +-----------------------------------------+---------------+-------+
 * </pre>
 */
final class NamedWord {
    /** The second time is what makes an item active in a segmented LRU. */
    static final int TIMES_PER_INTERVAL = 2;

    /** Holds {@link #TIMES_PER_INTERVAL}. */
    private static final long TIMES = 0x3;

    /** The lower bits of it: a locator of a chunk may find one item after the other. */
    private static final long GENERATION = 0x3_FFFC;

    private static final int GENERATION_SHIFT = 2;
    private static final long SINCE = ~(GENERATION | TIMES);

    private NamedWord() {}

    /**
     * True if an item was named {@link #TIMES_PER_INTERVAL} times in the interval.
     *
     * @param word of its locator
     * @param generation of the item
     * @param nowNs the time
     * @param intervalNs how long it counts; that it was named may be forgotten 0.3 ms earlier
     */
    static boolean isNamedOften(long word, int generation, long nowNs, long intervalNs) {
        return (word & TIMES) >= TIMES_PER_INTERVAL && isOf(word, generation, nowNs, intervalNs);
    }

    /**
     * The word when the item is named once more.
     *
     * @param word of its locator
     * @param generation of the item
     * @param nowNs the time
     * @param intervalNs how long it counts
     */
    static long namedOnceMore(long word, int generation, long nowNs, long intervalNs) {
        boolean again = (word & TIMES) != 0 && isOf(word, generation, nowNs, intervalNs);
        return (again ? word : (nowNs & SINCE) | bits(generation)) + 1;
    }

    private static boolean isOf(long word, int generation, long nowNs, long intervalNs) {
        return (word & GENERATION) == bits(generation) && nowNs - (word & SINCE) < intervalNs;
    }

    private static long bits(int generation) {
        return ((long) generation << GENERATION_SHIFT) & GENERATION;
    }
}
