package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.ForeignMemory;
import org.softrdma.sim.memory.RegionObserver;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.provider.HostMemories;

/**
 * The memory behind a region.
 *
 * @param segment the memory; that of another process must not be touched by it
 * @param owner the device allocation that contains it, which must not be freed before; null for other memory
 * @param foreign the same memory, if it is another process's
 */
record RegionBacking(
        MemorySegment segment,
        HostMemories.@Nullable Allocation owner,
        @Nullable Foreign foreign) {
    /**
     * Memory of another process.
     *
     * @param memory where it is there
     * @param base the first address as entries and peers name it
     */
    record Foreign(ForeignMemory memory, long base) {}

    /** Memory to be registered. If a device has allocated it, it is not freed before {@link #release}. */
    static RegionBacking acquire(MemorySegment segment) {
        return new RegionBacking(segment, HostMemories.acquire(segment), null);
    }

    /** Memory of another process, which frees it whenever it likes. */
    static RegionBacking of(Foreign foreign) {
        ForeignMemory memory = foreign.memory();
        return new RegionBacking(NativeMemory.segment(memory.address(), memory.length()), null, foreign);
    }

    /** The same, for a registration that begins before the old one ends. */
    RegionBacking again() {
        return foreign == null ? acquire(segment) : this;
    }

    /** It is not registered any more. */
    void release() {
        if (owner != null) {
            owner.release();
        }
    }

    /** Somebody is told that it is registered: of this process's memory. */
    void registered(RegionObserver regions) {
        if (foreign == null) {
            regions.registered(segment);
        }
    }

    /** Somebody is told that it is not. */
    void deregistered(RegionObserver regions) {
        if (foreign == null) {
            regions.deregistered(segment);
        }
    }

    /** What the stag table keeps of it. */
    Binding binding(int rights) {
        return foreign == null ? new Binding(segment, rights) : new Binding(foreign.memory());
    }

    /** The policy in force: memory that is always resident need not be pinned, that of another process cannot be. */
    PinningPolicy pinning(PinningPolicy policy) {
        return foreign != null || (owner != null && owner.isResident()) ? PinningPolicy.OFF : policy;
    }

    /** The rights in its row. */
    int rights(Set<AccessFlag> access, PinningPolicy policy) {
        int rights = AccessRights.of(access);
        if (foreign != null) {
            return rights & ~AccessRights.POLLED; // which atomics bring
        }
        return pinning(policy) == PinningPolicy.LAZY ? rights | AccessRights.LAZY : rights;
    }

    /** Bytes that an access moves as one. */
    int coherentUnit(Set<AccessFlag> access) {
        boolean whole = access.contains(AccessFlag.POLLED) || access.contains(AccessFlag.REMOTE_ATOMIC);
        return foreign == null && whole ? Long.BYTES : 0;
    }

    /**
     * The first address as entries and peers name it.
     *
     * @param access rights of the region
     * @param regions names its memory
     */
    long base(Set<AccessFlag> access, RegionObserver regions) {
        if (foreign != null) {
            return foreign.base();
        }
        return access.contains(AccessFlag.ZERO_BASED) ? 0 : regions.addressOf(segment);
    }
}
