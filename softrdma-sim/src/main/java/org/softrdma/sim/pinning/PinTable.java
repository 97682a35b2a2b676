package org.softrdma.sim.pinning;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The pinned pages of a device, by granule. The package describes how it works and which class does which part; this
 * one serves regions, engines and the application under the table's lock.
 *
 * <p>Any object may identify a region. Engines call {@link #isWarm}, without a lock, and {@link #pin} inside a batch;
 * all other threads call the rest. Everything but {@link #isWarm} takes the lock, and system calls are made under it.
 */
public final class PinTable {
    private static final int KIB = 1024;

    /** How often to wait for room, which other threads may take first. */
    private static final int MOST_WAITS = 8;

    /** Fair: threads that prefetch or register without end must not starve an engine. */
    private final ReentrantLock lock = new ReentrantLock(true);

    private final PageLocks kernel;
    private final Quiescence quiescence;
    private final Granularity granularity;
    private final DevicePinning pinning;
    private final PinningPace pace;

    private final GranuleMap map;
    /** Pages of all regions that are pinned, lazily or not. */
    private final Coverage coverage;
    /** Pages of EAGER regions. */
    private final Coverage eager;

    private final LockedGranules granules;
    private final Eviction eviction;
    private final GranulePinner pinner;

    private final IdentityHashMap<Object, PinningTotals> regions = new IdentityHashMap<>();
    private final LongAdder registered = new LongAdder();
    private final LongAdder quietAccesses = new LongAdder();

    /**
     * Nothing is registered.
     *
     * @param settings how to pin
     * @param locks locks pages, shared with the other tables of the process
     * @param quiescence the engines
     * @param machineBytes memory of the machine, for the automatic budget
     * @param clock of the device
     * @throws VerbsException {@code NOT_SUPPORTED} if LAZY is asked for by name and cannot work here
     */
    public PinTable(
            PinningSettings settings,
            CountedPageLocks locks,
            Quiescence quiescence,
            long machineBytes,
            NanoClock clock) {
        this.quiescence = quiescence;
        kernel = locks.kernel();
        granularity = Granularity.of(kernel.pageBytes(), settings.granuleBytes());
        pinning = new DevicePinning(settings, kernel, granularity.granuleBytes(), machineBytes);
        pace = new PinningPace(clock);
        map = new GranuleMap(granularity);
        coverage = new Coverage(granularity.pagesShift());
        eager = new Coverage(granularity.pagesShift());
        granules = new LockedGranules(granularity, locks, map, clock);
        eviction = new Eviction(pinning, granules, eager, map, quiescence, pace);
        pinner = new GranulePinner(granules, eviction, pace, kernel.hugePageBytes());
    }

    /** True if regions can be pinned lazily here. */
    public boolean canBeLazy() {
        return pinning.canBeLazy();
    }

    /** How regions are pinned, for messages: the default policy, its budget, and whether pinning is accounted only. */
    public String description() {
        return pinning.description();
    }

    /** Most bytes that are pinned lazily at once. */
    public long budgetBytes() {
        return pinning.budgetBytes();
    }

    /**
     * The policy that a region gets.
     *
     * @param wanted what it asks for
     * @throws VerbsException {@code NOT_SUPPORTED} if LAZY is asked for and cannot work
     */
    public PinningPolicy policy(PinningPolicy wanted) {
        return pinning.policy(wanted);
    }

    // ---- registration

    /**
     * The pages of a region.
     *
     * @param address its first byte
     * @param length its bytes
     * @param mappedFrom first byte known to be mapped around it
     * @param mappedTo behind the last byte known to be mapped
     * @throws VerbsException {@code NOT_SUPPORTED} if it lies above the addresses that a process can use
     */
    public PageRange pages(long address, long length, long mappedFrom, long mappedTo) {
        return granularity.range(address, length, mappedFrom, mappedTo);
    }

    /** Adds the bytes of a region that begins (positive) or ends (negative), whatever its policy. */
    public void registered(long bytes) {
        registered.add(bytes);
    }

    /** A lazily pinned region begins. Touches and pins nothing. */
    public void add(PageRange range) {
        lock.lock();
        try {
            coverage.add(range.from(), range.to());
        } finally {
            lock.unlock();
        }
    }

    /**
     * An EAGER region begins: pins all of it.
     *
     * @param region names it
     * @param range its pages
     * @throws VerbsException {@code NO_RESOURCES} if that is not possible; then nothing has changed
     */
    public void addEager(Object region, PageRange range) {
        add(range);
        lock.lock();
        try {
            eager.add(range.from(), range.to());
        } finally {
            lock.unlock();
        }
        long bytes = granularity.bytes(range);
        PinOutcome outcome;
        try {
            outcome = pinAll(region, granularity.address(range), bytes, LockReason.EAGER, () -> true);
        } catch (Throwable e) {
            removeEager(region, range);
            throw e;
        }
        if (!outcome.isPinned()) {
            removeEager(region, range);
            throw new VerbsException(VerbsErrorCode.NO_RESOURCES, eagerRefused(bytes, outcome));
        }
    }

    private String eagerRefused(long need, PinOutcome outcome) {
        long limit = kernel.limitBytes();
        String why = switch (outcome.reason()) {
            case NO_ROOM ->
                "the process would have more than " + granules.maxRanges()
                        + " separate locked ranges (a quarter of vm.max_map_count); raise vm.max_map_count, or pin"
                        + " lazily (pinning=lazy)";
            case WAIT ->
                "engines still use memory that must be unpinned first (" + granules.totals().pinnedBytes
                        + " bytes are pinned); try again, or pin lazily (pinning=lazy)";
            case NONE, GONE, REFUSED ->
                "mlock failed with errno " + outcome.errno() + "; RLIMIT_MEMLOCK is "
                        + (limit == PageLocks.UNLIMITED ? "no limit" : limit + " bytes")
                        + ", " + kernel.lockedBytes() + " bytes are locked already; raise it with ulimit -l "
                        + Math.ceilDiv(need + kernel.lockedBytes(), KIB) + ", or pin lazily (pinning=lazy)";
        };
        return "cannot pin " + need + " bytes (EAGER): " + why;
    }

    /** A lazily pinned region has ended; no engine uses it any more. Pages that no other region covers are unpinned. */
    public void remove(Object region, PageRange range) {
        lock.lock();
        try {
            coverage.remove(range.from(), range.to());
            giveBack(region, range);
            eviction.trim(Evictable.ANY);
        } finally {
            lock.unlock();
        }
    }

    /** An EAGER region has ended; no engine uses it any more. Pages that no other region covers are unpinned. */
    public void removeEager(Object region, PageRange range) {
        lock.lock();
        try {
            eager.remove(range.from(), range.to());
            coverage.remove(range.from(), range.to());
            granules.inside(range).forEach(eviction::hold);
            giveBack(region, range);
            eviction.trim(Evictable.ANY);
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(Object region, PageRange range) {
        PinningTotals payer = regions.remove(region);
        for (Granule granule : granules.inside(range)) {
            eviction.unlock(granule, granule.locked & ~coverage.mask(granule.number));
            if (granule.payer == payer) {
                granule.payer = null;
            }
            eviction.add(granule);
        }
    }

    // ---- use

    /** True if every page of a range is pinned; then the range counts as used now. Engine thread, inside a batch. */
    public boolean isWarm(long address, long length) {
        return map.isWarm(address, length);
    }

    /**
     * Pins memory that is about to be used, as far as the budget and the kernel allow. Engine thread, inside a batch.
     *
     * @param region names the region
     * @param address first byte
     * @param length bytes, at least 1
     * @param inUse what else the engine uses in this batch
     */
    public void pin(Object region, long address, long length, InUse inUse) {
        if (pace.isQuiet()) {
            quietAccesses.increment();
            return;
        }
        lock.lock();
        try {
            eviction.releaseLeaving();
            long from = map.granule(address);
            long to = map.granule(address + length - 1);
            Evictable evictable = new Evictable(from, to, inUse, true);
            for (long number = from; number <= to; number++) {
                long missing = map.pages(number, address, length) & ~granules.shown(number);
                if (missing != 0) {
                    touchCold(region, number, evictable);
                }
            }
            eviction.makeReserve(evictable);
        } finally {
            lock.unlock();
        }
    }

    private void touchCold(Object region, long number, Evictable evictable) {
        PinningTotals totals = granules.totals();
        PinningTotals payer = payer(region);
        totals.firstTouches++;
        payer.firstTouches++;
        if (!pinner.pin(payer, number, coverage.mask(number), LockReason.USE, evictable)
                .isPinned()) {
            totals.unpinnedAccesses++;
            payer.unpinnedAccesses++;
        }
    }

    private PinningTotals payer(Object region) {
        return regions.computeIfAbsent(region, key -> new PinningTotals());
    }

    /**
     * Pins part of a lazily pinned region before it is used, as far as possible. Any thread but an engine's in a batch.
     *
     * @param region names it
     * @param address first byte
     * @param length bytes, at least 1
     * @param onFault true if pages that are not resident are locked only when they are touched
     * @param alive asked under the lock: true if the region has not ended
     */
    public void prefetch(Object region, long address, long length, boolean onFault, BooleanSupplier alive) {
        LockReason reason = onFault ? LockReason.USE_ON_FAULT : LockReason.USE;
        PinOutcome ignored = pinAll(region, address, length, reason, alive); // best effort
    }

    /** Pins a range, up to the first granule that cannot be pinned. */
    private PinOutcome pinAll(Object region, long address, long length, LockReason reason, BooleanSupplier alive) {
        long from = map.granule(address);
        long to = map.granule(address + length - 1);
        PinOutcome outcome = PinOutcome.PINNED;
        for (long number = from; number <= to && outcome.isPinned(); number++) {
            outcome = pinOne(region, number, address, length, reason, alive);
            for (int attempt = 0; outcome == PinOutcome.WAIT && attempt < MOST_WAITS; attempt++) {
                quiescence.await();
                outcome = pinOne(region, number, address, length, reason, alive);
            }
        }
        return outcome;
    }

    private PinOutcome pinOne(
            Object region, long number, long address, long length, LockReason reason, BooleanSupplier alive) {
        lock.lock();
        try {
            if (!alive.getAsBoolean()) {
                return PinOutcome.GONE;
            }
            eviction.releaseLeaving();
            PinOutcome outcome = pinner.pin(
                    payer(region),
                    number,
                    reason == LockReason.EAGER ? map.pages(number, address, length) : coverage.mask(number),
                    reason,
                    new Evictable(map.granule(address), map.granule(address + length - 1), InUse.NOTHING, false));
            return outcome == PinOutcome.NO_ROOM && eviction.isAnyLeaving() ? PinOutcome.WAIT : outcome;
        } finally {
            lock.unlock();
        }
    }

    /** Unpins the lazily pinned pages of a region. Any thread but an engine's in a batch. */
    public void unpin(PageRange range) {
        List<Granule> going;
        lock.lock();
        try {
            going = granules.inside(range);
            going.forEach(eviction::leave);
            eviction.trim(Evictable.ANY);
        } finally {
            lock.unlock();
        }
        while (isLeaving(going)) {
            quiescence.await();
        }
    }

    private boolean isLeaving(List<Granule> going) {
        lock.lock();
        try {
            eviction.releaseLeaving();
            return going.stream().anyMatch(granule -> granule.leaving);
        } finally {
            lock.unlock();
        }
    }

    // ---- counters

    /** Counters of all regions together. */
    public PinningCounters counters() {
        lock.lock();
        try {
            return granules.totals().snapshot(registered.sum(), quietAccesses.sum());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Counters of a region.
     *
     * @param region names it
     * @param bytes its length
     */
    public PinningCounters counters(Object region, long bytes) {
        lock.lock();
        try {
            PinningTotals known = regions.get(region);
            return (known == null ? new PinningTotals() : known).snapshot(bytes, 0);
        } finally {
            lock.unlock();
        }
    }
}
