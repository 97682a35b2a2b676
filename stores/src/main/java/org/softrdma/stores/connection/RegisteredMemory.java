package org.softrdma.stores.connection;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory of a device, zeroed, registered as a whole. Owned by one thread, which closes it. */
public final class RegisteredMemory implements AutoCloseable {
    private final HostMemory memory;
    private final MemorySegment segment;
    private final MemoryRegion region;
    private @Nullable ByteBuffer view;

    /**
     * Allocates and registers it.
     *
     * @param device of the domain
     * @param domain where it is registered
     * @param length bytes
     * @param access what may be done with it
     * @throws VerbsException if the machine or the device does not have that much; nothing remains
     */
    public RegisteredMemory(VerbsDevice device, ProtectionDomain domain, long length, Set<AccessFlag> access) {
        this(device.allocateMemory(length), domain, access);
    }

    private RegisteredMemory(HostMemory memory, ProtectionDomain domain, Set<AccessFlag> access) {
        this.memory = memory;
        segment = memory.segment();
        try {
            region = domain.register(segment, access);
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /**
     * Allocates and registers memory that peers on the same host READ by themselves, if the device can show it to them.
     *
     * @param device of the domain
     * @param domain where it is registered
     * @param length bytes
     * @param access what may be done with it
     * @throws VerbsException if the machine or the device does not have that much; nothing remains
     */
    public static RegisteredMemory shareable(
            VerbsDevice device, ProtectionDomain domain, long length, Set<AccessFlag> access) {
        HostMemory memory;
        try {
            memory = device.allocateMemory(length, new MemorySource.Shareable());
        } catch (VerbsException e) {
            if (e.code() != VerbsErrorCode.NOT_SUPPORTED) {
                throw e;
            }
            memory = device.allocateMemory(length);
        }
        return new RegisteredMemory(memory, domain, access);
    }

    /** The memory. */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * The memory as a big endian buffer, always the same one, for checksums.
     *
     * @throws IllegalStateException if it has 2^31 bytes or more
     */
    public ByteBuffer view() {
        ByteBuffer whole = view;
        if (whole == null) {
            if (segment.byteSize() > Integer.MAX_VALUE) {
                throw new IllegalStateException(segment.byteSize() + " bytes: a view has less than 2^31");
            }
            whole = segment.asByteBuffer();
            view = whole;
        }
        return whole;
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
