package org.softrdma.sim.pinning;

import org.softrdma.verbs.PinningCounters;

/** Counters of a region or of a device while they change. Under {@link PinTable}'s lock. */
final class PinningTotals {
    long pinnedBytes;
    long highWaterBytes;
    long firstTouches;
    long pins;
    long unpins;
    long evictions;
    long unpinnedAccesses;
    long pinningNs;

    void pinned(long bytes) {
        pins++;
        tookOver(bytes);
    }

    /** What a region that has ended has left pinned counts here now. */
    void tookOver(long bytes) {
        pinnedBytes += bytes;
        highWaterBytes = Math.max(highWaterBytes, pinnedBytes);
    }

    void unpinned(long bytes, boolean whole) {
        pinnedBytes -= bytes;
        unpins += whole ? 1 : 0;
    }

    /**
     * As it is now.
     *
     * @param registeredBytes bytes registered
     * @param quietAccesses first touches that did without and were not counted one by one
     */
    PinningCounters snapshot(long registeredBytes, long quietAccesses) {
        return new PinningCounters(
                registeredBytes,
                pinnedBytes,
                highWaterBytes,
                firstTouches + quietAccesses,
                pins,
                unpins,
                evictions,
                unpinnedAccesses + quietAccesses,
                pinningNs);
    }
}
