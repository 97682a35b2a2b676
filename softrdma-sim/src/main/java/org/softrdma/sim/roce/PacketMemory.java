package org.softrdma.sim.roce;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.sim.memory.MemoryOperations;

/** Memory of a port for packets, by addresses and as a buffer. */
final class PacketMemory {
    private final MemorySegment segment;
    private final ByteBuffer view;

    PacketMemory(MemoryOperations memory, int bytes) {
        segment = memory.allocate(bytes, Long.BYTES);
        view = segment.asByteBuffer();
    }

    /** Of its first byte. */
    long address() {
        return segment.address();
    }

    /** All of it; position and limit are whoever's it is at the moment. */
    ByteBuffer view() {
        return view;
    }
}
