package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.AccessCheck;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
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
import org.softrdma.verbs.provider.HostMemories;

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
    public MemoryRegion register(Domain domain, MemorySegment segment, Set<AccessFlag> access, PinningPolicy asked) {
        checkMemory(segment, access);
        PinningPolicy policy = pins.policy(asked);
        quota.take(ResourceQuota.Kind.MEMORY_REGION);
        HostMemories.Allocation owner = acquire(segment);
        regions.registered(segment);
        try {
            return register(domain, new RegionBacking(segment, owner), access, policy);
        } catch (Throwable e) {
            regions.deregistered(segment);
            release(owner);
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            throw e;
        }
    }

    private HostMemories.@Nullable Allocation acquire(MemorySegment segment) {
        try {
            return HostMemories.acquire(segment);
        } catch (Throwable e) {
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            throw e;
        }
    }

    private SoftMemoryRegion register(
            Domain domain, RegionBacking backing, Set<AccessFlag> access, PinningPolicy policy) {
        PinningPolicy pinning = backing.pinning(policy);
        long base = backing.base(access, regions);
        int row = table.add(backing.segment(), base, rights(access, pinning), domain.number());
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

    /** The rights in a row. */
    static int rights(Set<AccessFlag> access, PinningPolicy pinning) {
        return AccessRights.of(access) | (pinning == PinningPolicy.LAZY ? AccessRights.LAZY : AccessRights.NONE);
    }

    private VerbsException full() {
        return new VerbsException(
                VerbsErrorCode.NO_RESOURCES,
                "all " + maxRegions
                        + " memory regions and windows are in use; close some, or raise the option regions");
    }

    /** Checks that memory can be registered with these rights. */
    static void checkMemory(MemorySegment segment, Set<AccessFlag> access) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered; expected a native segment");
        }
        if (segment.byteSize() < 1) {
            throw new IllegalArgumentException("length=0: expected at least 1 byte");
        }
        boolean writable = (AccessRights.of(access) & AccessRights.LOCAL_WRITE) != 0;
        if (access.contains(AccessFlag.REMOTE_WRITE) && !writable) {
            throw new IllegalArgumentException("access=" + access + ": REMOTE_WRITE needs LOCAL_WRITE");
        }
        if (access.contains(AccessFlag.REMOTE_ATOMIC) && !writable) {
            throw new IllegalArgumentException("access=" + access + ": REMOTE_ATOMIC needs LOCAL_WRITE");
        }
        if (access.contains(AccessFlag.POLLED)
                && (AccessRights.of(access) & (AccessRights.LOCAL_WRITE | AccessRights.REMOTE_READ)) == 0) {
            throw new IllegalArgumentException("access=" + access
                    + ": POLLED needs LOCAL_WRITE, for the device to write, or REMOTE_READ, for peers to read");
        }
        if (segment.isReadOnly() && (AccessRights.of(access) & AccessRights.LOCAL_WRITE) != 0) {
            throw new IllegalArgumentException("access=" + access + ": the memory is read-only");
        }
    }

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
        quiescence.await(); // after this no engine uses the memory
        try {
            regionPins.end(region.pinning(), binding, region.backing());
            table.free(region.row());
        } finally {
            regions.deregistered(region.backing().segment());
            region.protectionDomain().closed(DomainContents.Kind.MEMORY_REGION);
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            release(region.backing().owner());
        }
    }

    /** Changes a registration; not at the same time as another change, a swap or the close of it. */
    void reregister(SoftMemoryRegion region, Reregistration change) {
        Domain domain = domain(region, change);
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

    private Domain domain(SoftMemoryRegion region, Reregistration change) {
        ProtectionDomain wanted = change.domain();
        if (wanted == null) {
            return region.protectionDomain();
        }
        if (!(wanted instanceof Domain mine) || !mine.isOf(this)) {
            throw new IllegalArgumentException("reregister: the protection domain belongs to another device");
        }
        return mine;
    }

    /** A window that is not bound, of a domain that counts it already. */
    MemoryWindow allocateWindow(Domain domain) {
        Window window = windows.allocate(domain.number()).orElseThrow(this::full);
        return Creation.orUndo(
                () -> new SoftMemoryWindow(this, domain, window), () -> deallocate(window), "a memory window");
    }

    /** Number of windows. */
    int windows() {
        return windows.live();
    }

    /** The application closes a window. */
    void close(Window window, Domain domain) {
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

    static void release(HostMemories.@Nullable Allocation owner) {
        if (owner != null) {
            owner.release();
        }
    }

    PinningCounters counters(SoftMemoryRegion region) {
        return pins.counters(table.binding(region.row()), region.length());
    }

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

    /** A protection domain, as its regions and windows see it. */
    public interface Domain extends ProtectionDomain {
        /** Its number in the stag table. */
        int number();

        /** True if this registrar is that of its device. */
        boolean isOf(Registrar registrar);

        /**
         * One more lives in it.
         *
         * @throws IllegalStateException if it is closed
         */
        void opened(DomainContents.Kind kind);

        /** One is gone. */
        void closed(DomainContents.Kind kind);

        /**
         * The window that a request of a queue pair of this domain binds.
         *
         * @throws IllegalArgumentException if it belongs to another device
         */
        Window window(@Nullable MemoryWindow window);
    }
}
