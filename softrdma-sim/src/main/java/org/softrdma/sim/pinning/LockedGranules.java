package org.softrdma.sim.pinning;

import java.util.List;
import java.util.TreeMap;
import org.agrona.concurrent.NanoClock;

/**
 * The granules that have locked pages, and their counters: how much is locked in all and for each region. Every lock
 * and unlock goes through here, so that the kernel, the counters and the view of engines ({@link GranuleMap}) agree.
 *
 * <p>Not thread-safe: under {@link PinTable}'s lock.
 */
final class LockedGranules {
    private final Granularity granularity;
    private final CountedPageLocks locks;
    private final GranuleMap map;
    private final NanoClock clock;
    private final long maxRanges;
    private final TreeMap<Long, Granule> granules = new TreeMap<>();
    private final PinningTotals totals = new PinningTotals();
    /** Bytes locked for EAGER regions. */
    private long heldBytes;

    /**
     * Nothing is locked.
     *
     * @param granularity of the table
     * @param locks locks pages
     * @param map the view of engines
     * @param clock of the device
     */
    LockedGranules(Granularity granularity, CountedPageLocks locks, GranuleMap map, NanoClock clock) {
        this.granularity = granularity;
        this.locks = locks;
        this.map = map;
        this.clock = clock;
        maxRanges = locks.kernel().maxRanges();
    }

    /** The granularity of the table. */
    Granularity granularity() {
        return granularity;
    }

    /** Counters of all regions together. */
    PinningTotals totals() {
        return totals;
    }

    /** Bytes that count against the budget: those locked, but not for EAGER regions. */
    long lazyBytes() {
        return totals.pinnedBytes - heldBytes;
    }

    /** A granule by its number; a new one if nothing of it is locked. */
    Granule granule(long number) {
        Granule granule = granules.get(number);
        return granule == null ? new Granule(number) : granule;
    }

    /** Granules with locked pages that a range touches; a copy. */
    List<Granule> inside(PageRange range) {
        return List.copyOf(granules.subMap(granularity.firstGranule(range), true, granularity.lastGranule(range), true)
                .values());
    }

    /** The pages of a granule that engines see as locked. */
    long shown(long number) {
        Granule granule = granules.get(number);
        return granule == null || granule.leaving ? 0 : granule.locked;
    }

    /** True if all pages of a granule are locked. */
    boolean isWhole(long number) {
        Granule granule = granules.get(number);
        return granule != null && Long.bitCount(granule.locked) == granularity.pages();
    }

    /** Maximum number of separate locked ranges of the process, by the limit at the time the table was created. */
    long maxRanges() {
        return maxRanges;
    }

    /** True if the process has more separate locked ranges than it may. */
    boolean hasTooManyRanges() {
        return locks.ranges() > maxRanges;
    }

    /** True if locking some more pages of a granule would make too many. */
    boolean hasTooManyRangesWith(Granule granule, long pages) {
        return locks.rangesWith(granularity.address(granule.number), pages) > maxRanges;
    }

    /**
     * Locks pages and shows them to engines.
     *
     * @param granule of these pages
     * @param pages none of which is locked
     * @param reason why
     * @return pinned, or refused by the kernel; then only the time spent has changed
     */
    PinOutcome lock(Granule granule, long pages, LockReason reason) {
        long startNs = clock.nanoTime();
        int errno = locks.lock(granularity.address(granule.number), pages, reason == LockReason.USE_ON_FAULT);
        spent(granule, startNs);
        PinOutcome outcome = PinOutcome.of(errno);
        if (outcome.isPinned()) {
            pinned(granule, pages);
        }
        return outcome;
    }

    private void pinned(Granule granule, long pages) {
        long bytes = granularity.bytes(pages);
        totals.pinned(bytes);
        if (granule.payer != null) {
            granule.payer.pinned(bytes);
        }
        granule.locked |= pages;
        show(granule);
        granules.put(granule.number, granule);
    }

    /** Shows engines the locked pages of a granule, which counts as used now. */
    void show(Granule granule) {
        map.show(granule.number, granule.locked);
        map.pinned(granule.number);
    }

    /** Hides a granule's locked pages from engines. */
    void hide(Granule granule) {
        map.show(granule.number, 0);
    }

    /** Unlocks pages of a granule. */
    void unlock(Granule granule, long pages) {
        if (pages != 0) {
            long startNs = clock.nanoTime();
            locks.unlock(granularity.address(granule.number), pages);
            granule.locked &= ~pages;
            boolean whole = granule.locked == 0;
            totals.unpinned(granularity.bytes(pages), whole);
            if (granule.payer != null) {
                granule.payer.unpinned(granularity.bytes(pages), whole);
            }
            spent(granule, startNs);
            if (whole) {
                granules.remove(granule.number);
            }
        }
        if (!granule.leaving) {
            map.show(granule.number, granule.locked);
        }
    }

    /**
     * Notes which locked pages of a granule EAGER regions need.
     *
     * @param granule of these pages
     * @param needed pages that belong to EAGER regions, locked or not
     * @return by how many bytes the granule's EAGER pages have grown
     */
    long hold(Granule granule, long needed) {
        long held = granule.locked & needed;
        long change = granularity.bytes(held) - granularity.bytes(granule.held);
        heldBytes += change;
        granule.held = held;
        return change;
    }

    /** Charges a region for the locked pages of a granule, unless another region is charged already. */
    void charge(Granule granule, PinningTotals payer) {
        if (granule.payer == null) {
            granule.payer = payer;
            payer.tookOver(granularity.bytes(granule.locked));
        }
    }

    /** Rebuilds the huge page that contains a granule. */
    void joinHugePage(Granule granule, long firstOfHugePage) {
        long startNs = clock.nanoTime();
        locks.kernel().joinHugePage(granularity.address(firstOfHugePage));
        spent(granule, startNs);
    }

    private void spent(Granule granule, long startNs) {
        long ns = clock.nanoTime() - startNs;
        totals.pinningNs += ns;
        if (granule.payer != null) {
            granule.payer.pinningNs += ns;
        }
    }
}
