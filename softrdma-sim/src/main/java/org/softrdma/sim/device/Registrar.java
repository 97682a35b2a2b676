package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.sim.flight.Flight;
import org.softrdma.sim.memory.AccessCheck;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.ForeignMemory;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.RegionObserver;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.Window;
import org.softrdma.sim.memory.Windows;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;

/**
 * Registers, swaps, changes and deregisters memory, and its windows. Registration touches and pins no page unless the region is EAGER.
 * Thread-safe.
 */
public final class Registrar {
    private static final String BOUND = "memory windows are bound to the region; invalidate or close them first";

    private final StagTable table;
    private final Quiescence quiescence;
    private final PinTable pins;
    private final Windows windows;
    private final RegionPins regionPins;
    private final Reregistrar reregistrar;
    private final RegionObserver regions;
    private final ResourceQuota quota;
    private final int maxRegions;
    private final ReentrantLock swapLock = new ReentrantLock();

    /**
     * Makes a registrar.
     *
     * @param table turns regions into keys
     * @param quiescence the engines that read the table
     * @param pins what is pinned
     * @param regions told what is registered; names it
     * @param quota how many may be registered beside that
     * @param maxRegions maximum number of regions, for the message when all are in use
     */
    public Registrar(
            StagTable table,
            Quiescence quiescence,
            PinTable pins,
            RegionObserver regions,
            ResourceQuota quota,
            int maxRegions) {
        this.table = table;
        this.quiescence = quiescence;
        this.pins = pins;
        windows = new Windows(table);
        regionPins = new RegionPins(pins);
        reregistrar = new Reregistrar(table, quiescence, regionPins, regions);
        this.regions = regions;
        this.quota = quota;
        this.maxRegions = maxRegions;
    }

    /**
     * Registers memory.
     *
     * @param domain its domain, which counts it already
     * @param segment native memory of at least 1 byte
     * @param access rights and intents
     * @param asked the pinning policy that the application asks for
     */
    public MemoryRegion register(
            DeviceDomain domain, MemorySegment segment, Set<AccessFlag> access, PinningPolicy asked) {
        RegistrationRules.check(segment, access);
        PinningPolicy policy = pins.policy(asked);
        quota.take(ResourceQuota.Kind.MEMORY_REGION);
        return register(domain, acquire(segment), access, policy);
    }

    /**
     * Registers memory of another process.
     *
     * @param domain its domain, which counts it already
     * @param memory of the process
     * @param base its first address as entries and peers name it
     * @param access rights and intents
     */
    MemoryRegion register(DeviceDomain domain, ForeignMemory memory, long base, Set<AccessFlag> access) {
        RegionBacking backing = RegionBacking.of(new RegionBacking.Foreign(memory, base));
        RegistrationRules.checkForeign(backing, access);
        checkReadable(memory);
        quota.take(ResourceQuota.Kind.MEMORY_REGION);
        return register(domain, backing, access, PinningPolicy.OFF);
    }

    private static void checkReadable(ForeignMemory memory) {
        try {
            memory.owner().check(memory.address());
            memory.owner().check(memory.address() + memory.length() - 1);
        } catch (SystemCallException e) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_PERMITTED,
                    "memory of " + memory + " cannot be registered: " + e.getMessage(),
                    e);
        }
    }

    /** Of memory that is counted already. */
    private MemoryRegion register(
            DeviceDomain domain, RegionBacking backing, Set<AccessFlag> access, PinningPolicy policy) {
        backing.registered(regions);
        try {
            return enter(domain, backing, access, policy);
        } catch (Throwable e) {
            backing.deregistered(regions);
            backing.release();
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            throw e;
        }
    }

    private RegionBacking acquire(MemorySegment segment) {
        try {
            return RegionBacking.acquire(segment);
        } catch (Throwable e) {
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            throw e;
        }
    }

    private SoftMemoryRegion enter(
            DeviceDomain domain, RegionBacking backing, Set<AccessFlag> access, PinningPolicy policy) {
        PinningPolicy pinning = backing.pinning(policy);
        long base = backing.base(access, regions);
        int rights = backing.rights(access, policy);
        int row = table.add(
                backing.binding(rights),
                new StagTable.Place(base, backing.segment().byteSize(), rights, domain.number()));
        if (row < 0) {
            throw full();
        }
        try {
            SoftMemoryRegion region = new SoftMemoryRegion(
                    this,
                    domain,
                    policy,
                    AccessRights.granted(access),
                    new SoftMemoryRegion.Place(row, table.lkey(row), table.rkey(row), base),
                    backing);
            regionPins.start(
                    pinning, table.binding(row), backing); // last, because only this would have to be undone as well
            return region;
        } catch (Throwable e) {
            boolean ignored = table.invalidate(row); // no window can be bound to it
            quiescence.await();
            table.free(row);
            throw e;
        }
    }

    /** True if its regions are rows of this table. */
    boolean fills(StagTable other) {
        return table == other;
    }

    private VerbsException full() {
        return new VerbsException(
                VerbsErrorCode.NO_RESOURCES,
                "all " + maxRegions
                        + " memory regions and windows are in use; close some, or raise the option regions");
    }

    /** Exchanges the memory of two regions of one domain. */
    void swap(SoftMemoryRegion one, SoftMemoryRegion other) {
        swapLock.lock();
        try {
            if (one.isClosed() || other.isClosed() || one.isChanging() || other.isChanging()) {
                throw new IllegalStateException("swap: a region is closed, or being reregistered");
            }
            if (!one.access().contains(AccessFlag.ZERO_BASED)) {
                throw new IllegalArgumentException("swap: expected ZERO_BASED regions, access=" + one.access());
            }
            if (!one.access().equals(other.access())
                    || one.length() != other.length()
                    || one.pinning() != other.pinning()) {
                throw new IllegalArgumentException("swap: expected equal rights, lengths and pinning, but access="
                        + one.access() + " and " + other.access() + ", length=" + one.length() + " and "
                        + other.length() + ", pinning=" + one.pinning() + " and " + other.pinning());
            }
            if (!table.swap(one.row(), other.row())) {
                throw new VerbsException(VerbsErrorCode.BUSY, "swap: " + BOUND);
            }
            RegionBacking mine = one.backing();
            one.backing(other.backing());
            other.backing(mine);
        } finally {
            swapLock.unlock();
        }
    }

    /** Ends a registration. */
    void deregister(SoftMemoryRegion region) {
        Binding binding;
        swapLock.lock();
        try {
            binding = table.binding(region.row());
            if (region.isChanging() || !table.invalidate(region.row())) {
                region.stillOpen();
                throw new VerbsException(
                        VerbsErrorCode.BUSY, region.isChanging() ? "the region is being reregistered" : BOUND);
            }
        } finally {
            swapLock.unlock();
        }
        Flight.deregistering(quiescence::await); // after this no engine uses the memory
        try {
            regionPins.end(region.pinning(), binding, region.backing());
            table.free(region.row());
        } finally {
            region.backing().deregistered(regions);
            region.protectionDomain().closed(DomainContents.Kind.MEMORY_REGION);
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            region.backing().release();
        }
    }

    /** Changes a registration. Not at the same time as another change, a swap or the close of it. */
    void reregister(SoftMemoryRegion region, Reregistration change) {
        DeviceDomain domain = domain(region, change);
        beginChange(region);
        try {
            reregistrar.change(region, change, domain);
        } finally {
            swapLock.lock();
            try {
                region.changing(false);
            } finally {
                swapLock.unlock();
            }
        }
    }

    private void beginChange(SoftMemoryRegion region) {
        swapLock.lock();
        try {
            if (region.isClosed() || region.isChanging()) {
                throw new IllegalStateException("reregister: the region is closed, or being reregistered");
            }
            region.changing(true);
        } finally {
            swapLock.unlock();
        }
    }

    private DeviceDomain domain(SoftMemoryRegion region, Reregistration change) {
        ProtectionDomain wanted = change.domain();
        if (wanted == null) {
            return region.protectionDomain();
        }
        if (!(wanted instanceof DeviceDomain mine) || !mine.isOf(table)) {
            throw new IllegalArgumentException("reregister: the protection domain belongs to another device");
        }
        return mine;
    }

    /**
     * A window that is not bound.
     *
     * @param domain of it, which counts it already
     * @param shared all queue pairs of the domain share it
     */
    MemoryWindow allocateWindow(DeviceDomain domain, boolean shared) {
        Window window = windows.allocate(domain.number(), shared).orElseThrow(this::full);
        return Creation.orUndo(
                () -> new SoftMemoryWindow(domain, window, () -> close(window, domain)),
                () -> deallocate(window),
                "a memory window");
    }

    /** Number of windows. */
    int windows() {
        return windows.live();
    }

    /** The application closes a window. */
    private void close(Window window, DeviceDomain domain) {
        deallocate(window);
        domain.closed(DomainContents.Kind.MEMORY_WINDOW);
    }

    private void deallocate(Window window) {
        window.close();
        quiescence.await(); // until then an engine may have found the window's key
        windows.free(window);
    }

    /**
     * The window that a request binds.
     *
     * @throws IllegalArgumentException if it belongs to another device
     */
    Window window(@Nullable MemoryWindow window) {
        if (window instanceof SoftMemoryWindow mine) {
            return mine.of(windows);
        }
        throw new IllegalArgumentException("the memory window belongs to another device");
    }

    /** What pinning did to the memory of a region. */
    PinningCounters counters(SoftMemoryRegion region) {
        return pins.counters(table.binding(region.row()), region.length());
    }

    /** Unlocks the lazily pinned pages of a region. */
    void unpin(SoftMemoryRegion region) {
        if (region.pinning() == PinningPolicy.LAZY) {
            pins.unpin(regionPins.granules(region.backing()));
        }
    }

    /**
     * Checks an advice and returns the prefetch that follows it.
     *
     * @param domain number of the domain that got the advice
     * @param advice what is to be done
     * @param address first address, as scatter/gather entries name it
     * @param length bytes, at least 1
     * @param lkey of the region
     * @return does the prefetch when it is run
     */
    public Runnable prefetch(int domain, Advice advice, long address, long length, int lkey) {
        if (!pins.canBeLazy()) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "advise: this device does not pin lazily; pinning is " + pins.description());
        }
        String what = advice + " of lkey 0x" + Integer.toHexString(lkey) + ": ";
        StagTable.Named named = table.named(lkey);
        if (named == null) {
            throw new VerbsException(VerbsErrorCode.NOT_FOUND, what + "no region has this lkey");
        }
        int rights = advice == Advice.PREFETCH_WRITE ? AccessRights.LOCAL_WRITE : AccessRights.NONE;
        AccessResult result = AccessCheck.check(
                named.domain(), named.rights(), named.base(), named.length(), domain, rights, address, length);
        if (length < 1 || result == AccessResult.OUT_OF_BOUNDS || result == AccessResult.ADDRESS_WRAP) {
            throw new VerbsException(
                    VerbsErrorCode.BAD_RANGE,
                    what + "address=" + address + " and length=" + length + ": expected a range inside " + named.base()
                            + "+" + named.length());
        }
        if (result != AccessResult.GRANTED) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_PERMITTED,
                    what
                            + (result == AccessResult.WRONG_DOMAIN
                                    ? "the region belongs to another protection domain"
                                    : "the region lacks LOCAL_WRITE"));
        }
        Binding binding = named.binding();
        if (!binding.isLazy()) {
            throw new VerbsException(VerbsErrorCode.INVALID, what + "the region is not pinned lazily");
        }
        long raw = binding.address() + (address - named.base());
        return () -> pins.prefetch(binding, raw, length, advice == Advice.PREFETCH_NO_FAULT, binding::isAlive);
    }
}
