package org.softrdma.sanitiser.device;

import java.lang.foreign.MemorySegment;
import org.softrdma.verbs.HostMemory;

/** Memory of a device. Any thread. */
final class SanitisedMemory implements HostMemory {
    private final HostMemory memory;
    private final Lifetime lifetime;

    SanitisedMemory(HostMemory memory, Lifetime lifetime) {
        this.memory = memory;
        this.lifetime = lifetime;
    }

    @Override
    public MemorySegment segment() {
        return memory.segment();
    }

    @Override
    public void close() {
        lifetime.end();
        memory.close();
    }
}
