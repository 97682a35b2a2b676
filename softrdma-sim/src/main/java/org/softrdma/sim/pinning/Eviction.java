package org.softrdma.sim.pinning;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.sim.flight.Flight;
import org.softrdma.sim.memory.Quiescence;

/**
 * Keeps lazily pinned pages within the budget, and locked ranges within what a process may have: evicts the least
 * recently used granule when room is needed. Pages of EAGER regions do not count against the budget and are never
 * evicted.
 *
 * <p>A granule leaves in two steps, because a batch of another engine may have read its bits: {@link #leave} hides it
 * from engines, {@link #releaseLeaving} unlocks it once those batches have ended. Until then its bytes count as locked,
 * and an access that needs it gets it back ({@link #stay}).
 *
 * <p>Not thread-safe: under {@link PinTable}'s lock.
 */
final class Eviction {
    /** With several engines, this many granules leave before their room is needed. */
    private static final int RESERVE_GRANULES = 8;
    /** The reserve is at most this part of the budget. */
    private static final int RESERVE_SHARE = 8;

    private final long budget;
    private final boolean budgetChosen;
    private final LockedGranules granules;
    private final Granularity granularity;
    private final Coverage eager;
    private final EvictionQueue queue;
    private final Quiescence quiescence;
    private final Quiescence.Grace grace;
    private final PinningPace pace;
    private final List<Granule> leaving = new ArrayList<>();
    private long leavingBytes;

    /**
     * Nothing is locked.
     *
     * @param pinning of the device
     * @param granules what is locked
     * @param eager pages of EAGER regions
     * @param map knows the last uses
     * @param quiescence the engines
     * @param pace told when an engine cannot get room
     */
    Eviction(
            DevicePinning pinning,
            LockedGranules granules,
            Coverage eager,
            GranuleMap map,
            Quiescence quiescence,
            PinningPace pace) {
        budget = pinning.budgetBytes();
        budgetChosen = pinning.isBudgetChosen();
        this.granules = granules;
        granularity = granules.granularity();
        this.eager = eager;
        queue = new EvictionQueue(map);
        this.quiescence = quiescence;
        grace = quiescence.newGrace();
        this.pace = pace;
    }

    /** Makes a granule evictable, if it has lazily pinned pages. */
    void add(Granule granule) {
        if (!granule.leaving && granule.lazy() != 0) {
            queue.add(granule);
        }
    }

    /** EAGER regions have begun or ended: updates which pages of a granule they need. */
    void hold(Granule granule) {
        long change = granules.hold(granule, eager.mask(granule.number));
        leavingBytes -= granule.leaving ? change : 0;
        if (granule.lazy() == 0) {
            queue.remove(granule);
        }
    }

    /** Unlocks pages that no longer belong to a region. */
    void unlock(Granule granule, long pages) {
        granules.unlock(granule, pages);
        leavingBytes -= granule.leaving ? granularity.bytes(pages) : 0;
        if (granule.locked == 0) {
            queue.remove(granule);
            if (granule.leaving) {
                granule.leaving = false;
                leaving.remove(granule);
            }
        }
    }

    /**
     * Evicts until some more pages fit.
     *
     * @param granule of these pages
     * @param pages to be locked
     * @param reason why; EAGER pages need no budget
     * @param evictable what may be evicted
     * @return false if they do not fit now
     */
    boolean makeRoom(Granule granule, long pages, LockReason reason, Evictable evictable) {
        long need = reason == LockReason.EAGER ? 0 : granularity.bytes(pages);
        if (need > budget) {
            return false;
        }
        while (granules.lazyBytes() + need > (reason == LockReason.EAGER ? Long.MAX_VALUE : budget)
                || granules.hasTooManyRangesWith(granule, pages)) {
            boolean enough = !leaving.isEmpty() && granules.lazyBytes() - leavingBytes + need <= budget;
            if (enough || !evictOldest(evictable)) {
                return false;
            }
        }
        return true;
    }

    /** With several engines, makes room ahead of need, because that may take as long as a batch. */
    void makeReserve(Evictable evictable) {
        if (budgetChosen && quiescence.engines() > 1) {
            long reserve = Math.min(RESERVE_GRANULES * granularity.granuleBytes(), budget / RESERVE_SHARE);
            while (granules.lazyBytes() - leavingBytes > budget - reserve && evictOldest(evictable)) {
                // Until the reserve is there.
            }
        }
    }

    /**
     * Evicts until the limits hold: pages that were EAGER may count against the budget now, and unlocking may have
     * split a range.
     */
    void trim(Evictable evictable) {
        while ((granules.lazyBytes() - leavingBytes > budget || granules.hasTooManyRanges())
                && evictOldest(evictable)) {
            // Until both limits hold, or there is nothing left to evict.
        }
    }

    /**
     * Evicts until this many bytes are unlocked or leaving, as far as possible.
     *
     * @return true if some are unlocked already
     */
    boolean evict(long bytes, Evictable evictable) {
        PinningTotals totals = granules.totals();
        long before = totals.pinnedBytes;
        long goal = before - bytes;
        while (totals.pinnedBytes - leavingBytes > goal && evictOldest(evictable)) {
            // Until as much is unlocked or on its way out.
        }
        return totals.pinnedBytes < before;
    }

    private boolean evictOldest(Evictable evictable) {
        if (evictable.forEngine() && !budgetChosen) {
            pace.refused();
            return false;
        }
        Granule oldest = queue.poll(granule -> evictable.includes(granule, granularity));
        if (oldest == null) {
            return false;
        }
        granules.totals().evictions++;
        if (oldest.payer != null) {
            oldest.payer.evictions++;
        }
        Flight.evicted(granularity.address(oldest.number), granularity.bytes(oldest.lazy()));
        hide(oldest);
        return true;
    }

    /**
     * Unpins the lazily pinned pages of a granule: at once if no other engine is in a batch, else when those batches
     * have ended.
     */
    void leave(Granule granule) {
        if (!granule.leaving && granule.lazy() != 0) {
            queue.remove(granule);
            hide(granule);
        }
    }

    private void hide(Granule granule) {
        granules.hide(granule);
        granule.leaving = true;
        leaving.add(granule);
        leavingBytes += granularity.bytes(granule.lazy());
        grace.begin();
        releaseLeaving();
    }

    /** Keeps a granule that was leaving, because it is used again. */
    void stay(Granule granule) {
        if (granule.leaving) { // used again
            granule.leaving = false;
            leaving.remove(granule);
            leavingBytes -= granularity.bytes(granule.lazy());
            granules.show(granule);
            add(granule);
        }
    }

    /** True if some granules are leaving: there will be room when the current batches have ended. */
    boolean isAnyLeaving() {
        return !leaving.isEmpty();
    }

    /** Unlocks leaving granules, if no engine can be using them any more. */
    void releaseLeaving() {
        if (leaving.isEmpty() || !grace.isOver()) {
            return;
        }
        for (Granule granule : leaving) {
            granule.leaving = false;
            granules.unlock(granule, granule.lazy());
        }
        leaving.clear();
        leavingBytes = 0;
    }
}
