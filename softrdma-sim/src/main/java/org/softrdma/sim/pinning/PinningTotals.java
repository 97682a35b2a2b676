package org.softrdma.sim.pinning;

import org.softrdma.verbs.PinningCounters;

/** The running counters of a region or a device. Under {@link PinTable}'s lock. */
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

    /** Counts pages here that a region left pinned when it ended. */
    void tookOver(long bytes) {
        pinnedBytes += bytes;
        highWaterBytes = Math.max(highWaterBytes, pinnedBytes);
    }

    void unpinned(long bytes, boolean whole) {
        pinnedBytes -= bytes;
        unpins += whole ? 1 : 0;
    }

    /**
     * The current values.
     *
     * @param registeredBytes bytes registered
     * @param quietAccesses first touches that were not pinned and not counted one by one
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
