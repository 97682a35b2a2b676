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
import org.softrdma.sim.pinning.PageRange;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.HostMemories;

/**
 * Registers, swaps and deregisters memory. Registration touches and pins no page unless the region is EAGER.
 * Thread-safe.
 */
public final class Registrar {
    private final StagTable table;
    private final Quiescence quiescence;
    private final PinTable pins;
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
     * @param regions told what is registered
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
        this.regions = regions;
        this.quota = quota;
        this.maxRegions = maxRegions;
    }

    /**
     * Registers memory.
     *
     * @param domain for {@link MemoryRegion#protectionDomain()}
     * @param domainNumber its number in the stag table
     * @param segment native memory of at least 1 byte
     * @param access rights and intents
     * @param asked the pinning policy that the application asks for
     */
    public MemoryRegion register(
            ProtectionDomain domain,
            int domainNumber,
            MemorySegment segment,
            Set<AccessFlag> access,
            PinningPolicy asked) {
        checkMemory(segment, access);
        PinningPolicy policy = pins.policy(asked);
        quota.take(ResourceQuota.Kind.MEMORY_REGION);
        HostMemories.Allocation owner = acquire(segment);
        regions.registered(segment);
        try {
            return register(
                    domain,
                    domainNumber,
                    new SoftMemoryRegion.Backing(segment, owner),
                    access,
                    owner != null && owner.isResident() ? PinningPolicy.OFF : policy);
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
            ProtectionDomain domain,
            int domainNumber,
            SoftMemoryRegion.Backing backing,
            Set<AccessFlag> access,
            PinningPolicy policy) {
        long base =
                access.contains(AccessFlag.ZERO_BASED) ? 0 : backing.segment().address();
        int rights = AccessRights.of(access) | (policy == PinningPolicy.LAZY ? AccessRights.LAZY : AccessRights.NONE);
        int row = table.add(backing.segment(), base, rights, domainNumber);
        if (row < 0) {
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "all " + maxRegions + " memory regions are in use; close some, or raise the option regions");
        }
        try {
            SoftMemoryRegion region = new SoftMemoryRegion(
                    this,
                    domain,
                    AccessRights.granted(access),
                    policy,
                    new SoftMemoryRegion.Place(row, table.lkey(row), table.rkey(row), base),
                    backing);
            startPinning(policy, row, backing); // last, because only this would have to be undone as well
            return region;
        } catch (Throwable e) {
            table.invalidate(row);
            quiescence.await();
            table.free(row);
            throw e;
        }
    }

    private static void checkMemory(MemorySegment segment, Set<AccessFlag> access) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered; expected a native segment");
        }
        if (segment.byteSize() < 1) {
            throw new IllegalArgumentException("length=0: expected at least 1 byte");
        }
        if (access.contains(AccessFlag.REMOTE_WRITE) && (AccessRights.of(access) & AccessRights.LOCAL_WRITE) == 0) {
            throw new IllegalArgumentException("access=" + access + ": REMOTE_WRITE needs LOCAL_WRITE");
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

    /** Nobody has the keys yet, so no memory is used before it is known that it can be pinned. */
    private void startPinning(PinningPolicy policy, int row, SoftMemoryRegion.Backing backing) {
        switch (policy) {
            case LAZY -> pins.add(granules(backing));
            case EAGER -> pins.addEager(table.binding(row), pages(backing.segment()));
            case OFF, AUTO -> {
                // Nothing is pinned.
            }
        }
        pins.registered(backing.segment().byteSize());
    }

    /**
     * Whole granules of memory that the device allocated; of other memory only the registered part is known to be
     * mapped.
     */
    private PageRange granules(SoftMemoryRegion.Backing backing) {
        HostMemories.Allocation owner = backing.owner();
        MemorySegment segment = backing.segment();
        return owner == null
                ? pages(segment)
                : pins.pages(segment.address(), segment.byteSize(), owner.address(), owner.end());
    }

    private PageRange pages(MemorySegment segment) {
        long from = segment.address();
        return pins.pages(from, segment.byteSize(), from, from + segment.byteSize());
    }

    void swap(SoftMemoryRegion one, SoftMemoryRegion other) {
        swapLock.lock();
        try {
            if (one.isClosed() || other.isClosed()) {
                throw new IllegalStateException("swap: a region is closed");
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
            table.swap(one.row(), other.row());
            SoftMemoryRegion.Backing mine = one.backing();
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
            table.invalidate(region.row());
        } finally {
            swapLock.unlock();
        }
        quiescence.await(); // after this no engine uses the memory
        try {
            endPinning(region.pinning(), binding, region.backing());
            table.free(region.row());
        } finally {
            regions.deregistered(region.backing().segment());
            ((Domain) region.protectionDomain()).regionClosed();
            quota.giveBack(ResourceQuota.Kind.MEMORY_REGION);
            release(region.backing().owner());
        }
    }

    private void endPinning(PinningPolicy policy, Binding binding, SoftMemoryRegion.Backing backing) {
        switch (policy) {
            case LAZY -> pins.remove(binding, granules(backing));
            case EAGER -> pins.removeEager(binding, pages(backing.segment()));
            case OFF, AUTO -> {
                // Nothing was pinned.
            }
        }
        pins.registered(-backing.segment().byteSize());
    }

    private static void release(HostMemories.@Nullable Allocation owner) {
        if (owner != null) {
            owner.release();
        }
    }

    PinningCounters counters(SoftMemoryRegion region) {
        return pins.counters(table.binding(region.row()), region.length());
    }

    void unpin(SoftMemoryRegion region) {
        if (region.pinning() == PinningPolicy.LAZY) {
            pins.unpin(granules(region.backing()));
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

    /** A protection domain that counts its regions. */
    public interface Domain {
        /** One of its regions was deregistered. */
        void regionClosed();
    }
}
