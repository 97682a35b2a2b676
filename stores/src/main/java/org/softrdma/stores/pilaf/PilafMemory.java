package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory of a device, registered as a whole. Owned by one thread, which closes it. */
final class PilafMemory implements AutoCloseable {
    private final HostMemory memory;
    private final MemoryRegion region;
    private final ByteBuffer view;

    /**
     * Allocates and registers it.
     *
     * @param length bytes, at most 2^31 - 1
     */
    PilafMemory(VerbsDevice device, ProtectionDomain domain, int length, Set<AccessFlag> access) {
        memory = device.allocateMemory(length);
        try {
            region = domain.register(memory.segment(), access);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        view = memory.segment().asByteBuffer();
    }

    MemorySegment segment() {
        return memory.segment();
    }

    /** For checksums. */
    ByteBuffer view() {
        return view;
    }

    MemoryRegion region() {
        return region;
    }

    @Override
    public void close() {
        region.close();
        memory.close();
    }
}
