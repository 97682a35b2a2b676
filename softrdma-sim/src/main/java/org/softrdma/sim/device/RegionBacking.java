package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.RegionObserver;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.provider.HostMemories;

/**
 * The memory behind a region.
 *
 * @param segment the memory
 * @param owner the device allocation that contains it, which must not be freed before; null for other memory
 */
record RegionBacking(MemorySegment segment, HostMemories.@Nullable Allocation owner) {
    /** Memory to be registered. If a device has allocated it, it is not freed before {@link #release}. */
    static RegionBacking acquire(MemorySegment segment) {
        return new RegionBacking(segment, HostMemories.acquire(segment));
    }

    /** It is not registered any more. */
    void release() {
        if (owner != null) {
            owner.release();
        }
    }

    /** The policy in force: memory that is always resident need not be pinned. */
    PinningPolicy pinning(PinningPolicy policy) {
        return owner != null && owner.isResident() ? PinningPolicy.OFF : policy;
    }

    /**
     * The first address as entries and peers name it.
     *
     * @param access rights of the region
     * @param regions names its memory
     */
    long base(Set<AccessFlag> access, RegionObserver regions) {
        return access.contains(AccessFlag.ZERO_BASED) ? 0 : regions.addressOf(segment);
    }
}
