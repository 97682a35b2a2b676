package org.softrdma.kv.store;

/**
 * What the store counts.
 *
 * @param currentItems items linked now
 * @param totalItems items ever published
 * @param currentBytes bytes of the items linked now, with headers
 * @param expiredItems items found to have expired when somebody asked for them
 * @param memory what the store takes
 */
public record StoreStatistics(long currentItems, long totalItems, long currentBytes, long expiredItems, Memory memory) {
    /**
     * Memory of the store.
     *
     * @param pagedBytes bytes cut into chunks
     * @param limit the most that may be, but for one page of each class
     * @param indexBytes bytes of the hash table
     */
    public record Memory(long pagedBytes, long limit, long indexBytes) {}
}
