package org.softrdma.kv.store;

/**
 * What the store counts.
 *
 * @param currentItems items linked now
 * @param totalItems items ever published
 * @param currentBytes bytes of the items linked now, with headers
 * @param expiredItems items found to have expired when somebody asked for them
 * @param pagedBytes bytes of memory cut into chunks
 * @param memoryLimit the most it may be, but for one page of each class
 * @param indexBytes bytes of the hash table
 */
public record StoreStatistics(
        long currentItems,
        long totalItems,
        long currentBytes,
        long expiredItems,
        long pagedBytes,
        long memoryLimit,
        long indexBytes) {}
