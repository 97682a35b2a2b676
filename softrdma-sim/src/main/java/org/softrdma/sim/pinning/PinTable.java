package org.softrdma.sim.pinning;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.TreeMap;
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
 * The pinned pages of a device, by granule. How it works: see the package.
 *
 * <p>A region is named by an object of its own, whatever that is. {@link #isWarm} is called by engines inside a batch and takes no
 * lock, {@link #pin} by engines inside a batch, everything else by any other thread, under a lock. System calls are made under that
 * lock.
 */
public final class PinTable {
    private static final int KIB = 1024;
    /** With several engines, this many granules are on their way out before their room is needed. */
    private static final int RESERVE_GRANULES = 8;
    /** The reserve is at most this part of the budget. */
    private static final int RESERVE_SHARE = 8;

    private static final int MOST_PAGES = Long.SIZE;
    /** Huge pages of more granules than this (512 MiB where pages have 64 KiB) are left to the kernel. */
    private static final int MOST_HUGE_GRANULES = 64;

    /** What became free may be taken by another thread as often. */
    private static final int MOST_WAITS = 8;

    /** Fair: threads that prefetch or register without end must not keep an engine from its turn. */
    private final ReentrantLock lock = new ReentrantLock(true);

    private final CountedPageLocks locks;
    private final PageLocks kernel;
    private final Quiescence quiescence;
    private final Quiescence.Grace grace;
    private final PinningPolicy asked;
    private final PinningPolicy policy;
    private final String notLazy;
    private final long budget;
    private final long maxRanges;
    private final int granuleShift;
    private final int pageShift;
    /** Granules of a huge page; 0 if there are none. */
    private final int hugeGranules;

    private final GranuleMap map;
    private final EvictionQueue queue;
    private final Coverage coverage;
    private final Coverage eager;
    private final TreeMap<Long, Granule> granules = new TreeMap<>();
    private final List<Granule> leaving = new ArrayList<>();
    private final IdentityHashMap<Object, PinningTotals> regions = new IdentityHashMap<>();
    private final PinningTotals totals = new PinningTotals();
    private final LongAdder registered = new LongAdder();
    private final LongAdder quietAccesses = new LongAdder();
    private final NanoClock clock;
    private final PinningPace pace;
    /** Else engines evict nothing: what they unlocked for one access the next would need, and locks of parts tear huge pages. */
    private final boolean budgetChosen;

    /** Bytes locked for EAGER regions. */
    private long heldBytes;

    private long leavingBytes;

    /**
     * Nothing is registered.
     *
     * @param settings how to pin
     * @param locks locks pages, for other tables of the process, too
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
        this.clock = clock;
        pace = new PinningPace(clock);
        budgetChosen = settings.budgetBytes() != PinningSettings.AUTOMATIC;
        this.locks = locks;
        kernel = locks.kernel();
        maxRanges = kernel.maxRanges();
        this.quiescence = quiescence;
        grace = quiescence.newGrace();
        int pageBytes = kernel.pageBytes();
        int granuleBytes = Math.clamp(settings.granuleBytes(), pageBytes, MOST_PAGES * pageBytes);
        pageShift = Integer.numberOfTrailingZeros(pageBytes);
        granuleShift = Integer.numberOfTrailingZeros(granuleBytes);
        long huge = kernel.hugePageBytes() >>> granuleShift;
        hugeGranules = huge > MOST_HUGE_GRANULES ? 0 : (int) huge;
        long limit = kernel.limitBytes();
        budget = budgetChosen
                ? settings.budgetBytes()
                : Math.min(limit == PageLocks.UNLIMITED ? limit : limit - kernel.lockedBytes(), machineBytes / 2);
        notLazy = limit < granuleBytes || budget < granuleBytes
                ? "a granule has " + granuleBytes + " bytes, but this process may lock "
                        + (limit < granuleBytes
                                ? limit + "; raise it with ulimit -l, or use pinning=off"
                                : budget + " bytes; raise pin-budget")
                : "";
        if (settings.policy() == PinningPolicy.LAZY && !notLazy.isEmpty()) {
            throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, "pinning=lazy: " + notLazy);
        }
        asked = settings.policy();
        policy = asked != PinningPolicy.AUTO ? asked : notLazy.isEmpty() ? PinningPolicy.LAZY : PinningPolicy.OFF;
        map = new GranuleMap(granuleShift, pageShift);
        queue = new EvictionQueue(map);
        coverage = new Coverage(granuleShift - pageShift);
        eager = new Coverage(granuleShift - pageShift);
    }

    /** True if regions can be pinned lazily here. */
    public boolean canBeLazy() {
        return notLazy.isEmpty();
    }

    /** How regions are pinned, for people: the default policy, its budget, and whether it is accounted only. */
    public String description() {
        return switch (policy) {
            case OFF -> asked == PinningPolicy.OFF ? "off" : "off: " + notLazy;
            case EAGER -> "eager" + missing();
            case LAZY, AUTO -> "lazy, budget " + budget + " bytes" + missing();
        };
    }

    private String missing() {
        return kernel.missing().isEmpty() ? "" : ", accounted only: " + kernel.missing();
    }

    /** Most bytes that are pinned at once. */
    public long budgetBytes() {
        return budget;
    }

    /**
     * The policy that a region gets.
     *
     * @param wanted what it asks for
     * @throws VerbsException {@code NOT_SUPPORTED} if LAZY is asked for and cannot work
     */
    public PinningPolicy policy(PinningPolicy wanted) {
        if (wanted == PinningPolicy.LAZY && !canBeLazy()) {
            throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, "LAZY: " + notLazy);
        }
        return wanted == PinningPolicy.AUTO ? policy : wanted;
    }

    // ---- registration

    /**
     * The pages of a region.
     *
     * @param address its first byte
     * @param length its bytes
     * @param mappedFrom first byte known to be mapped around it
     * @param mappedTo behind the last byte known to be mapped
     */
    public PageRange pages(long address, long length, long mappedFrom, long mappedTo) {
        long granule = 1L << granuleShift;
        long from = Math.min(address, Math.max(mappedFrom, address & -granule));
        long to = Math.max(address + length, Math.min(mappedTo, (address + length + granule - 1) & -granule));
        long page = 1L << pageShift;
        if (to >>> GranuleMap.ADDRESS_BITS != 0) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED, "memory above 2^" + GranuleMap.ADDRESS_BITS + " cannot be pinned");
        }
        return new PageRange(from >>> pageShift, (to + page - 1) >>> pageShift);
    }

    /** Counts bytes of a region that begins (positive) or ends (negative), whatever its policy. */
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
        PinOutcome outcome;
        try {
            outcome = pinAll(region, range.from() << pageShift, range.bytes(pageShift), How.HELD, () -> true);
        } catch (Throwable e) {
            removeEager(region, range);
            throw e;
        }
        if (!outcome.isPinned()) {
            removeEager(region, range);
            throw new VerbsException(VerbsErrorCode.NO_RESOURCES, eagerRefused(range.bytes(pageShift), outcome));
        }
    }

    private String eagerRefused(long need, PinOutcome outcome) {
        long limit = kernel.limitBytes();
        String why = switch (outcome.reason()) {
            case NO_ROOM ->
                "the process would have more than " + maxRanges
                        + " separate locked ranges (a quarter of vm.max_map_count); raise that, or register LAZY";
            case WAIT ->
                "engines still use what is to be unpinned for it, of " + totals.pinnedBytes
                        + " bytes that are pinned; try again, or register LAZY";
            case NONE, GONE, REFUSED ->
                "the kernel says errno " + outcome.errno() + "; RLIMIT_MEMLOCK is "
                        + (limit == PageLocks.UNLIMITED ? "no limit" : limit + " bytes")
                        + ", locked already are " + kernel.lockedBytes() + "; raise it with ulimit -l "
                        + Math.ceilDiv(need + kernel.lockedBytes(), KIB) + ", or register LAZY";
        };
        return "cannot pin " + need + " bytes (EAGER): " + why;
    }

    /** A lazily pinned region has ended; no engine uses it any more. Pages that no other region covers are unpinned. */
    public void remove(Object region, PageRange range) {
        lock.lock();
        try {
            coverage.remove(range.from(), range.to());
            giveBack(region, range);
            trim(Evictable.ANY);
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
            inside(range).forEach(this::hold);
            giveBack(region, range);
            trim(Evictable.ANY);
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(Object region, PageRange range) {
        PinningTotals payer = regions.remove(region);
        for (Granule granule : inside(range)) {
            unlock(granule, granule.locked & ~coverage.mask(granule.number));
            if (granule.payer == payer) {
                granule.payer = null;
            }
            enqueue(granule);
        }
    }

    /** What is locked for EAGER regions is not evicted, and not of the budget. */
    private void hold(Granule granule) {
        long held = granule.locked & eager.mask(granule.number);
        long change = bytes(held) - bytes(granule.held);
        heldBytes += change;
        leavingBytes -= granule.leaving ? change : 0;
        granule.held = held;
    }

    private void enqueue(Granule granule) {
        if (!granule.leaving && (granule.locked & ~granule.held) != 0) {
            queue.add(granule);
        }
    }

    /** What was EAGER may be of the budget now, and what was unlocked may have torn a range in two. */
    private void trim(Evictable evictable) {
        while ((lazyBytes() - leavingBytes > budget || locks.ranges() > maxRanges) && evictOldest(evictable)) {
            // Until both limits hold, or there is nothing left to evict.
        }
    }

    /** Granules with locked pages that a range touches; a copy. */
    private List<Granule> inside(PageRange range) {
        int shift = granuleShift - pageShift;
        return List.copyOf(granules.subMap(range.from() >>> shift, true, (range.to() - 1) >>> shift, true)
                .values());
    }

    // ---- use

    /** True if every page of a range is pinned; then it counts as used now. Engine thread, inside a batch. */
    public boolean isWarm(long address, long length) {
        return map.isWarm(address, length);
    }

    /**
     * Pins what is about to be used, as far as the budget and the kernel allow. Engine thread, inside a batch.
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
            releaseLeaving();
            long from = map.granule(address);
            long to = map.granule(address + length - 1);
            Evictable evictable = new Evictable(from, to, inUse, true);
            for (long number = from; number <= to; number++) {
                long missing = map.pages(number, address, length) & ~shown(number);
                if (missing != 0) {
                    touchCold(region, number, evictable);
                }
            }
            makeReserve(evictable);
        } finally {
            lock.unlock();
        }
    }

    private void touchCold(Object region, long number, Evictable evictable) {
        PinningTotals payer = regions.computeIfAbsent(region, key -> new PinningTotals());
        totals.firstTouches++;
        payer.firstTouches++;
        if (!pinGranule(payer, number, coverage.mask(number), How.USED, evictable)
                .isPinned()) {
            totals.unpinnedAccesses++;
            payer.unpinnedAccesses++;
        }
    }

    /**
     * What may be evicted: not the granules being accessed, not what is gathered, not EAGER pages.
     *
     * @param from first granule that is being accessed
     * @param to last of them
     * @param inUse what else is in use by the thread that evicts
     * @param forEngine for an access of an engine
     */
    private record Evictable(long from, long to, InUse inUse, boolean forEngine) {
        static final Evictable ANY = new Evictable(0, -1, InUse.NOTHING, false);
    }

    private boolean mayGo(Granule granule, Evictable evictable) {
        return (granule.number < evictable.from || granule.number > evictable.to)
                && (granule.locked & ~granule.held) != 0
                && !evictable.inUse.overlaps(granule.number << granuleShift, (granule.number + 1) << granuleShift);
    }

    private long shown(long number) {
        Granule granule = granules.get(number);
        return granule == null || granule.leaving ? 0 : granule.locked;
    }

    /**
     * Pins a part of a lazily pinned region before it is used, as far as that goes. Any thread but an engine's in a batch.
     *
     * @param region names it
     * @param address first byte
     * @param length bytes, at least 1
     * @param onFault what is not resident is locked when it comes in
     * @param alive asked under the lock: the region has not ended
     */
    public void prefetch(Object region, long address, long length, boolean onFault, BooleanSupplier alive) {
        PinOutcome ignored = pinAll(region, address, length, onFault ? How.ON_FAULT : How.USED, alive); // best effort
    }

    /** Pins a range, until it cannot go on. */
    private PinOutcome pinAll(Object region, long address, long length, How how, BooleanSupplier alive) {
        long from = map.granule(address);
        long to = map.granule(address + length - 1);
        PinOutcome outcome = PinOutcome.PINNED;
        for (long number = from; number <= to && outcome.isPinned(); number++) {
            outcome = pinOne(region, number, address, length, how, alive);
            for (int attempt = 0; outcome == PinOutcome.WAIT && attempt < MOST_WAITS; attempt++) {
                quiescence.await();
                outcome = pinOne(region, number, address, length, how, alive);
            }
        }
        return outcome;
    }

    private PinOutcome pinOne(Object region, long number, long address, long length, How how, BooleanSupplier alive) {
        lock.lock();
        try {
            if (!alive.getAsBoolean()) {
                return PinOutcome.GONE;
            }
            releaseLeaving();
            long from = map.granule(address);
            PinningTotals payer = regions.computeIfAbsent(region, key -> new PinningTotals());
            PinOutcome outcome = pinGranule(
                    payer,
                    number,
                    how == How.HELD ? map.pages(number, address, length) : coverage.mask(number),
                    how,
                    new Evictable(from, map.granule(address + length - 1), InUse.NOTHING, false));
            return outcome == PinOutcome.NO_ROOM && !leaving.isEmpty() ? PinOutcome.WAIT : outcome;
        } finally {
            lock.unlock();
        }
    }

    /** Unpins what is pinned lazily in a region. Any thread but an engine's in a batch. */
    public void unpin(PageRange range) {
        List<Granule> going;
        lock.lock();
        try {
            going = inside(range);
            for (Granule granule : going) {
                if (!granule.leaving && (granule.locked & ~granule.held) != 0) {
                    queue.remove(granule);
                    leave(granule);
                }
            }
            trim(Evictable.ANY);
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
            releaseLeaving();
            return going.stream().anyMatch(granule -> granule.leaving);
        } finally {
            lock.unlock();
        }
    }

    // ---- one granule, under the lock

    /** Locks pages of a granule. */
    private PinOutcome pinGranule(PinningTotals payer, long number, long wanted, How how, Evictable evictable) {
        Granule granule = granules.get(number);
        if (granule == null) {
            granule = new Granule(number);
        }
        stay(granule);
        long missing = wanted & ~granule.locked;
        PinOutcome outcome = missing == 0 ? PinOutcome.PINNED : lockMore(payer, granule, missing, how, evictable);
        if (outcome.isPinned() && how == How.HELD) {
            hold(granule);
            if (granule.held == granule.locked) {
                queue.remove(granule);
            }
        }
        return outcome;
    }

    private PinOutcome lockMore(PinningTotals payer, Granule granule, long missing, How how, Evictable evictable) {
        if (!makeRoom(granule, missing, how, evictable)) {
            return PinOutcome.NO_ROOM;
        }
        if (granule.payer == null) {
            granule.payer = payer;
            payer.tookOver(bytes(granule.locked));
        }
        PinOutcome outcome = lock(granule, missing, how);
        if (!outcome.isPinned()) {
            outcome = lockInstead(granule, missing, how, evictable, outcome);
        }
        if (outcome.isPinned()) {
            pinned(granule, missing);
            if (hugeGranules > 1 && totals.evictions == 0 && how != How.ON_FAULT) {
                joinHugePage(granule);
            }
        }
        trim(evictable);
        return outcome;
    }

    /** The kernel refused some pages: evicts as many, once, and tries again if that has unlocked them; else room comes later. */
    private PinOutcome lockInstead(Granule granule, long pages, How how, Evictable evictable, PinOutcome refused) {
        long before = totals.pinnedBytes;
        long goal = before - bytes(pages);
        while (totals.pinnedBytes - leavingBytes > goal && evictOldest(evictable)) {
            // Until as much is unlocked or on its way out.
        }
        if (totals.pinnedBytes < before) {
            return makeRoom(granule, pages, how, evictable) ? lock(granule, pages, how) : PinOutcome.NO_ROOM;
        }
        if (!leaving.isEmpty()) {
            return PinOutcome.NO_ROOM;
        }
        if (evictable.forEngine) {
            pace.refused();
        }
        return refused;
    }

    private void pinned(Granule granule, long pages) {
        totals.pinned(bytes(pages));
        if (granule.payer != null) {
            granule.payer.pinned(bytes(pages));
        }
        granule.locked |= pages;
        map.show(granule.number, granule.locked);
        map.pinned(granule.number);
        granules.put(granule.number, granule);
        enqueue(granule);
    }

    /**
     * A lock of a part tears a huge page into small ones; once all of it is locked it is put together again. Not after an
     * eviction, the next one would tear it again; and not for pages that shall come in when they are used.
     */
    private void joinHugePage(Granule granule) {
        long first = granule.number & -hugeGranules;
        for (long number = first; number < first + hugeGranules; number++) {
            if (Long.bitCount(lockedNow(number)) != 1 << (granuleShift - pageShift)) {
                return;
            }
        }
        long startNs = clock.nanoTime();
        kernel.joinHugePage(first << granuleShift);
        spent(granule, startNs);
    }

    /** One that was on its way out is used again: it stays. */
    private void stay(Granule granule) {
        if (granule.leaving) { // used again
            granule.leaving = false;
            leaving.remove(granule);
            leavingBytes -= bytes(granule.locked & ~granule.held);
            map.show(granule.number, granule.locked);
            map.pinned(granule.number);
            enqueue(granule);
        }
    }

    /** Evicts until some more pages fit; false if they do not fit now. */
    private boolean makeRoom(Granule granule, long pages, How how, Evictable evictable) {
        long need = how == How.HELD ? 0 : bytes(pages);
        if (need > budget) {
            return false;
        }
        while (lazyBytes() + need > (how == How.HELD ? Long.MAX_VALUE : budget)
                || locks.rangesWith(address(granule), pages) > maxRanges) {
            boolean enough = !leaving.isEmpty() && lazyBytes() - leavingBytes + need <= budget;
            if (enough || !evictOldest(evictable)) {
                return false;
            }
        }
        return true;
    }

    private long lazyBytes() {
        return totals.pinnedBytes - heldBytes;
    }

    /** With several engines room is made ahead of need, because it may take the length of a batch. */
    private void makeReserve(Evictable evictable) {
        if (budgetChosen && quiescence.engines() > 1) {
            long reserve = Math.min((long) RESERVE_GRANULES << granuleShift, budget / RESERVE_SHARE);
            while (lazyBytes() - leavingBytes > budget - reserve && evictOldest(evictable)) {
                // Until the reserve is there.
            }
        }
    }

    private boolean evictOldest(Evictable evictable) {
        if (evictable.forEngine && !budgetChosen) {
            pace.refused();
            return false;
        }
        Granule oldest = queue.poll(granule -> mayGo(granule, evictable));
        if (oldest == null) {
            return false;
        }
        totals.evictions++;
        if (oldest.payer != null) {
            oldest.payer.evictions++;
        }
        leave(oldest);
        return true;
    }

    /** Unpins a granule: at once if no other engine is in a batch, else when those batches have ended. */
    private void leave(Granule granule) {
        map.show(granule.number, 0);
        granule.leaving = true;
        leaving.add(granule);
        leavingBytes += bytes(granule.locked & ~granule.held);
        grace.begin();
        releaseLeaving();
    }

    /** Unlocks what was on its way out, if nobody can be using it any more. */
    private void releaseLeaving() {
        if (leaving.isEmpty() || !grace.isOver()) {
            return;
        }
        for (Granule granule : leaving) {
            granule.leaving = false;
            unlock(granule, granule.locked & ~granule.held);
        }
        leaving.clear();
        leavingBytes = 0;
    }

    // ---- pages, under the lock

    private PinOutcome lock(Granule granule, long pages, How how) {
        long startNs = clock.nanoTime();
        int errno = locks.lock(address(granule), pages, how == How.ON_FAULT);
        spent(granule, startNs);
        return PinOutcome.of(errno);
    }

    private void unlock(Granule granule, long pages) {
        if (pages != 0) {
            long startNs = clock.nanoTime();
            locks.unlock(address(granule), pages);
            granule.locked &= ~pages;
            boolean whole = granule.locked == 0;
            totals.unpinned(bytes(pages), whole);
            if (granule.payer != null) {
                granule.payer.unpinned(bytes(pages), whole);
            }
            spent(granule, startNs);
            if (granule.leaving) {
                leavingBytes -= bytes(pages);
            }
            if (whole) {
                queue.remove(granule);
                granules.remove(granule.number);
                if (granule.leaving) {
                    granule.leaving = false;
                    leaving.remove(granule);
                }
            }
        }
        if (!granule.leaving) {
            map.show(granule.number, granule.locked);
        }
    }

    private void spent(Granule granule, long startNs) {
        long ns = clock.nanoTime() - startNs;
        totals.pinningNs += ns;
        if (granule.payer != null) {
            granule.payer.pinningNs += ns;
        }
    }

    private long address(Granule granule) {
        return granule.number << granuleShift;
    }

    private long bytes(long pages) {
        return (long) Long.bitCount(pages) << pageShift;
    }

    private long lockedNow(long number) {
        Granule granule = granules.get(number);
        return granule == null ? 0 : granule.locked;
    }

    // ---- counters

    /** What happened to all regions. */
    public PinningCounters counters() {
        lock.lock();
        try {
            return totals.snapshot(registered.sum(), quietAccesses.sum());
        } finally {
            lock.unlock();
        }
    }

    /**
     * What happened to a region.
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

    /** Why pages are locked. */
    private enum How {
        /** They are used, or will be soon. */
        USED,
        /** They will be used: those that are not resident are locked as they come in. */
        ON_FAULT,
        /** They belong to an EAGER region: for as long as that lives, whatever the budget. */
        HELD
    }
}
