package org.softrdma.sim.queue;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;

/** A domain in which nothing is registered. */
final class StressDomain implements ProtectionDomain {
    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        throw new IllegalStateException("nobody registers here");
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
