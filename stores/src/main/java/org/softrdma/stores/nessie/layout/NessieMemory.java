package org.softrdma.stores.nessie.layout;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory of a device, zeroed, registered as a whole. Owned by one thread, which closes it. */
public final class NessieMemory implements AutoCloseable {
    private final HostMemory memory;
    private final MemoryRegion region;
    private final MemorySegment segment;

    /** Allocates and registers so many bytes. */
    public NessieMemory(VerbsDevice device, ProtectionDomain domain, long length, Set<AccessFlag> access) {
        memory = device.allocateMemory(length);
        segment = memory.segment();
        try {
            region = domain.register(segment, access);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** The memory. */
    public MemorySegment segment() {
        return segment;
    }

    /** A view for checksums of memory of less than 2^31 bytes. */
    public ByteBuffer view() {
        return segment.asByteBuffer();
    }

    /** Its registration. */
    public MemoryRegion region() {
        return region;
    }

    @Override
    public void close() {
        region.close();
        memory.close();
    }
}
