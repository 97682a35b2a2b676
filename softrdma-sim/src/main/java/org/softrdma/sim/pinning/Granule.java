package org.softrdma.sim.pinning;

import org.jspecify.annotations.Nullable;

/** A granule of which pages are locked. Under {@link PinTable}'s lock. */
final class Granule {
    /** Its address in units of its length. */
    final long number;

    /** A bit for each page that is locked. */
    long locked;
    /** Those of them that EAGER regions need. */
    long held;
    /** The tick by which the eviction queue has sorted it; not later than its last use. */
    long queuedTick;

    boolean queued;
    /** Its bits are cleared for engines, but one of them may have read them before. */
    boolean leaving;
    /** Counters of the region whose access pinned it; null once that is gone. */
    @Nullable
    PinningTotals payer;

    Granule(long number) {
        this.number = number;
    }
}
