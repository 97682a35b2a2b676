package org.softrdma.verbs;

/**
 * What pinning did to a region, or to all of a device, since registration or opening. A granule is the piece of memory that a
 * device pins at once.
 *
 * <p>A granule that several regions share is counted with the region whose access pinned it, until that region is closed; in the
 * device's counters it is counted once.
 *
 * @param registeredBytes bytes registered now
 * @param pinnedBytes bytes locked into memory now
 * @param highWaterBytes most bytes that were locked at once
 * @param firstTouches accesses that found their granule not pinned, one for each granule and access (page faults, in the terms of on-demand
 *     paging); also after an eviction
 * @param pins times that a granule, or more of its pages, were pinned, by whatever
 * @param unpins times that a granule was given back, for whatever reason
 * @param evictions those of the unpins that made room for another granule
 * @param unpinnedAccesses those of the first touches that did without, because the budget was in use or the kernel refused
 * @param pinningNs time spent pinning and unpinning
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
     * Of a region that a driver has pinned at registration and says no more about.
     *
     * @param bytes its length
     */
    static PinningCounters eager(long bytes) {
        return new PinningCounters(bytes, bytes, bytes, 0, 1, 0, 0, 0, 0);
    }
}
