package org.softrdma.bench.read;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The content of a responder's memory, the C yardstick's too: byte i is {@code (i * 31 + 7) & 0xff}. Repeats every 256 bytes. */
public final class MemoryPattern {
    /** Bytes after which it repeats. */
    public static final int PERIOD = 256;

    private static final int FACTOR = 31;
    private static final int START = 7;
    /** {@code FACTOR * INVERSE} is 1 modulo the period. */
    private static final int INVERSE = 223;

    private final MemorySegment expected;

    /**
     * A pattern to compare with.
     *
     * @param longest longest piece to be compared
     */
    public MemoryPattern(long longest) {
        expected = Arena.ofAuto().allocate(longest + PERIOD);
        fill(expected);
    }

    /**
     * Fills memory.
     *
     * @param memory all of it, also where it was never touched
     */
    public static void fill(MemorySegment memory) {
        long done = Math.min(PERIOD, memory.byteSize());
        for (int i = 0; i < done; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, at(i));
        }
        while (done < memory.byteSize()) {
            long next = Math.min(done, memory.byteSize() - done);
            MemorySegment.copy(memory, 0, memory, done, next);
            done += next;
        }
    }

    /** The byte at an index. */
    public static byte at(long index) {
        return (byte) (index * FACTOR + START);
    }

    /**
     * Where in the period a byte is: each value is there once.
     *
     * @param memory where the byte is
     * @param at its index
     */
    public static int positionOf(MemorySegment memory, long at) {
        return (memory.get(ValueLayout.JAVA_BYTE, at) - START) * INVERSE & (PERIOD - 1);
    }

    /**
     * The index of the first byte that differs; -1 if none does.
     *
     * @param piece what was read
     * @param from where it was read from, counted from the start of the memory
     */
    public long mismatch(MemorySegment piece, long from) {
        return expected.asSlice(from & (PERIOD - 1), piece.byteSize()).mismatch(piece);
    }
}
