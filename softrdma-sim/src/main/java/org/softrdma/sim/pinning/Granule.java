package org.softrdma.sim.pinning;

import org.jspecify.annotations.Nullable;

/** A granule with locked pages. Under {@link PinTable}'s lock. */
final class Granule {
    /** Its address in units of its length. */
    final long number;

    /** A bit for each page that is locked. */
    long locked;
    /** Those of them that EAGER regions need. */
    long held;
    /** Its tick in the eviction queue, not later than its last use. */
    long queuedTick;

    boolean queued;
    /** It is being evicted: its bits are cleared for engines, but one of them may have read them before. */
    boolean leaving;
    /** Counters of the region whose access pinned it; null once that region has ended. */
    @Nullable
    PinningTotals payer;

    Granule(long number) {
        this.number = number;
    }

    /** The locked pages that no EAGER region needs: they count against the budget and may be evicted. */
    long lazy() {
        return locked & ~held;
    }
}
