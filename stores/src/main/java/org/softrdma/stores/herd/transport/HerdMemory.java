package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory of a device, zeroed, registered as a whole. Owned by one thread, which closes it. */
final class HerdMemory implements AutoCloseable {
    private final HostMemory memory;
    private final MemoryRegion region;
    private final ByteBuffer view;

    HerdMemory(VerbsDevice device, ProtectionDomain domain, int length, Set<AccessFlag> access) {
        memory = device.allocateMemory(length);
        try {
            memory.segment().fill((byte) 0);
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
