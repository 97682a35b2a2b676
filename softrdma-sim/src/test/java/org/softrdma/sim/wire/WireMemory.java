package org.softrdma.sim.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;

/** Native memory for one FPDU or two, full of {@link #UNTOUCHED}, that a test fills and reads as hex digits. */
final class WireMemory {
    /** What stands where nothing was written. */
    static final String UNTOUCHED = "ee";

    private final MemorySegment segment;

    WireMemory(int length) {
        segment = Arena.ofAuto().allocate(length, Long.BYTES);
        segment.fill((byte) Integer.parseInt(UNTOUCHED, 16));
    }

    /** Memory that holds just these bytes. */
    static WireMemory of(String hex) {
        byte[] bytes = Frames.bytes(hex);
        WireMemory memory = new WireMemory(bytes.length);
        NativeMemory.put(memory.address(), bytes);
        return memory;
    }

    long address() {
        return segment.address();
    }

    ByteBuffer view() {
        return segment.asByteBuffer();
    }

    byte[] bytes() {
        return NativeMemory.bytes(address(), (int) segment.byteSize());
    }

    /** Everything in it. */
    String hex() {
        return TestBytes.hex(bytes());
    }

    /** What hex digits look like without the blanks that make them readable. */
    static String plain(String hex) {
        return TestBytes.hex(Frames.bytes(hex));
    }
}
