package org.softrdma.kv.store;

/**
 * What is counted per slab class, for {@code stats items} and {@code stats slabs}.
 *
 * @param sizeClass number of the class, 0 for the smallest chunks
 * @param slab its pages and chunks
 * @param lru its items by age
 * @param events what became of its items
 */
public record SizeClassStatistics(int sizeClass, Slab slab, Lru lru, Events events) {
    /**
     * Pages and chunks.
     *
     * @param chunkLength bytes of a chunk
     * @param chunksPerPage chunks of a page
     * @param pages pages of the class
     * @param usedChunks chunks in use
     * @param freeChunks chunks that were used and are free
     * @param freshChunks chunks that were never used
     */
    public record Slab(
            int chunkLength, int chunksPerPage, int pages, long usedChunks, long freeChunks, long freshChunks) {}

    /**
     * Items by segment of the LRU.
     *
     * @param hot items in HOT
     * @param warm items in WARM
     * @param cold items in COLD
     * @param hotAge seconds since the last item of HOT was used
     * @param warmAge seconds since the last item of WARM was used
     * @param coldAge seconds since the last item of COLD was used
     * @param requestedBytes bytes of items, less than those of their chunks
     * @param movesToCold items moved to COLD
     * @param movesToWarm items moved to WARM
     * @param movesWithin items of WARM that were given another round
     */
    public record Lru(
            long hot,
            long warm,
            long cold,
            int hotAge,
            int warmAge,
            int coldAge,
            long requestedBytes,
            long movesToCold,
            long movesToWarm,
            long movesWithin) {
        /** Items of the class. */
        public long items() {
            return hot + warm + cold;
        }
    }

    /**
     * What became of items.
     *
     * @param evicted items evicted to make room
     * @param evictedNonzero of these, items with an expiry
     * @param evictedUnfetched of these, items never found
     * @param evictedTime seconds since the item evicted last was used
     * @param outOfMemory items for which there was no room
     * @param reclaimed expired items removed to make room
     * @param expiredUnfetched expired items removed that were never found
     * @param crawlerReclaimed expired items removed by the sweep in the background
     * @param tailLocked items that could not be evicted because somebody was busy with their key
     */
    public record Events(
            long evicted,
            long evictedNonzero,
            long evictedUnfetched,
            long evictedTime,
            long outOfMemory,
            long reclaimed,
            long expiredUnfetched,
            long crawlerReclaimed,
            long tailLocked) {}
}
