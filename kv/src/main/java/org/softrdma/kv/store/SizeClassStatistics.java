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
     * @param hot items that are new
     * @param warm items that were found more than once
     * @param cold items that go first
     * @param temporary items of a short life, where they are kept apart
     * @param requestedBytes bytes of items, less than those of their chunks
     * @param moves between segments
     */
    public record Lru(Segment hot, Segment warm, Segment cold, Segment temporary, long requestedBytes, Moves moves) {
        /** Items of the class. */
        public long items() {
            return hot.items + warm.items + cold.items + temporary.items;
        }

        /** How often items of the class were found. */
        public long hits() {
            return hot.hits + warm.hits + cold.hits + temporary.hits;
        }
    }

    /**
     * One segment.
     *
     * @param items how many it has
     * @param ageSeconds seconds since the last of them was used
     * @param hits how often items in it were found
     */
    public record Segment(long items, int ageSeconds, long hits) {}

    /**
     * Moves between segments.
     *
     * @param toCold items moved to COLD
     * @param toWarm items moved to WARM
     * @param within items of WARM that were given another round
     */
    public record Moves(long toCold, long toWarm, long within) {}

    /**
     * What became of items.
     *
     * @param evictions items that had to make room
     * @param outOfMemory items for which there was no room
     * @param reclaimed expired items removed to make room, and items that a flush has removed
     * @param expiredUnfetched expired items removed that were never found
     * @param crawlerReclaimed expired items removed by the sweep in the background
     * @param crawlerChecked items that the sweep in the background has looked at
     * @param tailLocked items that could not be evicted because somebody was busy with their key
     * @param directReclaims how often whoever stored an item had to make room for it
     */
    public record Events(
            Evictions evictions,
            long outOfMemory,
            long reclaimed,
            long expiredUnfetched,
            long crawlerReclaimed,
            long crawlerChecked,
            long tailLocked,
            long directReclaims) {}

    /**
     * Items that were evicted.
     *
     * @param items how many
     * @param nonzero of these, items with an expiry
     * @param unfetched of these, items never found
     * @param active of these, items found more than once since they were stored or moved
     * @param ageSeconds seconds since the last of them was used
     */
    public record Evictions(long items, long nonzero, long unfetched, long active, long ageSeconds) {}
}
