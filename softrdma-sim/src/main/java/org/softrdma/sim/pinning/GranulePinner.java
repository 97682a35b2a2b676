package org.softrdma.sim.pinning;

import org.softrdma.sim.flight.Flight;

/**
 * Pins pages of one granule: makes room, locks, makes room once more if the kernel refuses, and rebuilds a huge page
 * that locks of its parts have split.
 *
 * <p>Not thread-safe: under {@link PinTable}'s lock.
 */
final class GranulePinner {
    /** Huge pages of more granules than this (512 MiB where pages have 64 KiB) are left to the kernel. */
    private static final int MOST_HUGE_GRANULES = 64;

    private final LockedGranules granules;
    private final Granularity granularity;
    private final Eviction eviction;
    private final PinningPace pace;
    /** Granules of a huge page; 0 if there are none. */
    private final int hugeGranules;

    /**
     * Nothing is locked.
     *
     * @param granules what is locked
     * @param eviction makes room
     * @param pace told when the kernel refuses an engine's pin
     * @param hugePageBytes bytes of the kernel's huge pages, 0 if there are none to rebuild
     */
    GranulePinner(LockedGranules granules, Eviction eviction, PinningPace pace, long hugePageBytes) {
        this.granules = granules;
        this.eviction = eviction;
        this.pace = pace;
        granularity = granules.granularity();
        long huge = hugePageBytes >>> granularity.granuleShift();
        hugeGranules = huge > MOST_HUGE_GRANULES ? 0 : (int) huge;
    }

    /**
     * Locks pages of a granule, as far as the limits allow.
     *
     * @param payer counters of the region that needs them
     * @param number of the granule
     * @param wanted pages, locked or not
     * @param reason why
     * @param evictable what may be evicted for them
     */
    PinOutcome pin(PinningTotals payer, long number, long wanted, LockReason reason, Evictable evictable) {
        Granule granule = granules.granule(number);
        eviction.stay(granule);
        long missing = wanted & ~granule.locked;
        PinOutcome outcome = missing == 0 ? PinOutcome.PINNED : lockMore(payer, granule, missing, reason, evictable);
        if (outcome.isPinned() && reason == LockReason.EAGER) {
            eviction.hold(granule);
        }
        return outcome;
    }

    private PinOutcome lockMore(
            PinningTotals payer, Granule granule, long missing, LockReason reason, Evictable evictable) {
        if (!eviction.makeRoom(granule, missing, reason, evictable)) {
            return PinOutcome.NO_ROOM;
        }
        granules.charge(granule, payer);
        PinOutcome outcome = granules.lock(granule, missing, reason);
        if (!outcome.isPinned()) {
            outcome = lockInstead(granule, missing, reason, evictable, outcome);
        }
        if (outcome.isPinned()) {
            Flight.pinned(granularity.address(granule.number), granularity.bytes(missing), reason);
            eviction.add(granule);
            if (hugeGranules > 1 && granules.totals().evictions == 0 && reason != LockReason.USE_ON_FAULT) {
                joinHugePage(granule);
            }
        }
        eviction.trim(evictable);
        return outcome;
    }

    /**
     * The kernel refused some pages: evicts as many, once, and tries again if some were unlocked; else room comes
     * later.
     */
    private PinOutcome lockInstead(
            Granule granule, long pages, LockReason reason, Evictable evictable, PinOutcome refused) {
        if (eviction.evict(granularity.bytes(pages), evictable)) {
            return eviction.makeRoom(granule, pages, reason, evictable)
                    ? granules.lock(granule, pages, reason)
                    : PinOutcome.NO_ROOM;
        }
        if (eviction.isAnyLeaving()) {
            return PinOutcome.NO_ROOM;
        }
        if (evictable.forEngine()) {
            pace.refused();
        }
        return refused;
    }

    /**
     * Locking a part splits a huge page into small ones; once all of it is locked, it is rebuilt. Not after an
     * eviction, because the next one would split it again; and not for pages that become resident when they are used.
     */
    private void joinHugePage(Granule granule) {
        long first = granule.number & -hugeGranules;
        for (long number = first; number < first + hugeGranules; number++) {
            if (!granules.isWhole(number)) {
                return;
            }
        }
        granules.joinHugePage(granule, first);
    }
}
