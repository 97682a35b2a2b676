package org.softrdma.verbs;

/**
 * What pinning did to a region since it was registered, or to a whole device since it was opened. A granule is the
 * piece of memory that a device pins at once.
 *
 * <p>The counters of a region include a granule that it shares if it was this region's access that pinned it, until
 * the region is closed. The counters of a device include each granule once.
 *
 * @param registeredBytes bytes registered now
 * @param pinnedBytes bytes locked into memory now
 * @param highWaterBytes maximum number of bytes locked at once
 * @param firstTouches accesses that found their granule unpinned, counted for each granule of an access; on-demand
 *     paging calls them page faults. An access after an eviction counts again
 * @param pins times that a granule, or more of its pages, was pinned
 * @param unpins times that a granule was unpinned
 * @param evictions unpins that made room for another granule
 * @param unpinnedAccesses first touches that went ahead without pinning, because the budget was in use or the kernel
 *     refused
 * @param pinningNs nanoseconds spent pinning and unpinning
 */
public record PinningCounters(
        long registeredBytes,
        long pinnedBytes,
        long highWaterBytes,
        long firstTouches,
        long pins,
        long unpins,
        long evictions,
        long unpinnedAccesses,
        long pinningNs) {
    /**
     * The counters of a region that a driver pinned at registration; the driver counts nothing more.
     *
     * @param bytes its length
     */
    static PinningCounters eager(long bytes) {
        return new PinningCounters(bytes, bytes, bytes, 0, 1, 0, 0, 0, 0);
    }
}
