package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Registers, swaps and deregisters memory: O(1), touches no page of it, pins nothing. Thread-safe. */
public final class Registrar {
    private final StagTable table;
    private final Quiescence quiescence;
    private final HostMemories memories;
    private final int maxRegions;
    private final ReentrantLock swapLock = new ReentrantLock();

    /**
     * Makes a registrar.
     *
     * @param table where regions become keys
     * @param quiescence the engines that read the table
     * @param memories memory that the device has allocated
     * @param maxRegions most live regions, for the message when they are used up
     */
    public Registrar(StagTable table, Quiescence quiescence, HostMemories memories, int maxRegions) {
        this.table = table;
        this.quiescence = quiescence;
        this.memories = memories;
        this.maxRegions = maxRegions;
    }

    /**
     * Registers memory.
     *
     * @param domain for {@link MemoryRegion#protectionDomain()}
     * @param domainNumber its number in the stag table
     * @param segment native memory of at least 1 byte
     * @param access rights and intents
     */
    public MemoryRegion register(
            ProtectionDomain domain, int domainNumber, MemorySegment segment, Set<AccessFlag> access) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("memory on the heap cannot be registered; expected a native segment");
        }
        if (segment.byteSize() < 1) {
            throw new IllegalArgumentException("length=0: expected at least 1 byte");
        }
        if (access.contains(AccessFlag.REMOTE_WRITE) && (AccessRights.of(access) & AccessRights.LOCAL_WRITE) == 0) {
            throw new IllegalArgumentException("access=" + access + ": REMOTE_WRITE needs LOCAL_WRITE");
        }
        if (segment.isReadOnly() && (AccessRights.of(access) & AccessRights.LOCAL_WRITE) != 0) {
            throw new IllegalArgumentException("access=" + access + ": the memory is read-only");
        }
        SoftHostMemory owner = memories.acquire(segment);
        long base = access.contains(AccessFlag.ZERO_BASED) ? 0 : segment.address();
        int row = table.add(segment.address(), segment.byteSize(), base, AccessRights.of(access), domainNumber);
        if (row < 0) {
            if (owner != null) {
                owner.release();
            }
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "all " + maxRegions + " memory regions are in use; close some, or raise the option regions");
        }
        return new SoftMemoryRegion(
                this,
                domain,
                AccessRights.granted(access),
                row,
                table.lkey(row),
                table.rkey(row),
                base,
                new SoftMemoryRegion.Backing(segment, owner));
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
            if (!one.access().equals(other.access()) || one.length() != other.length()) {
                throw new IllegalArgumentException("swap: expected equal rights and lengths, but access="
                        + one.access() + " and " + other.access() + ", length=" + one.length() + " and "
                        + other.length());
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
        swapLock.lock();
        try {
            table.invalidate(region.row());
        } finally {
            swapLock.unlock();
        }
        quiescence.await();
        table.free(region.row());
        SoftHostMemory owner = region.backing().owner();
        if (owner != null) {
            owner.release();
        }
        ((Domain) region.protectionDomain()).regionClosed();
    }

    /** A protection domain that counts its regions. */
    public interface Domain {
        /** One of its regions was deregistered. */
        void regionClosed();
    }
}
