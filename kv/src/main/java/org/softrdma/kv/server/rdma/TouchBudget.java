package org.softrdma.kv.server.rdma;

/**
 * Limits what one client's touch reports may do within a second. Nobody can check whether a client has READ what it
 * reports, so it can keep items in the LRU just as it could by asking for them; but no more items than it could ask
 * for, and no more hits than a link carries. Owned by the thread of its session.
 */
final class TouchBudget {
    /**
     * Records that move items in the LRU: what a busy client names while items are evicted, with every item READ
     * twice.
     */
    static final int MOST_RECORDS = 1 << 20;

    /** READs that count as hits: of the smallest items, more than 100 Gb/s carry. */
    static final long MOST_HITS = 1L << 26;

    private long second = Long.MIN_VALUE;
    private int records;
    private long hits;

    /** True if one more record may take effect. */
    boolean takeRecord(long nowSeconds) {
        begin(nowSeconds);
        if (records == MOST_RECORDS) {
            return false;
        }
        records++;
        return true;
    }

    /** How many of these READs count. */
    long takeHits(long claimed, long nowSeconds) {
        begin(nowSeconds);
        long taken = Math.min(claimed, MOST_HITS - hits);
        hits += taken;
        return taken;
    }

    private void begin(long nowSeconds) {
        if (second != nowSeconds) {
            second = nowSeconds;
            records = 0;
            hits = 0;
        }
    }
}
