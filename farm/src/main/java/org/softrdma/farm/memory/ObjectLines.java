package org.softrdma.farm.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.stores.MemorySteps;

/**
 * Where the bytes of an object lie among its line versions. "Length" counts an object without them, "slot" with them.
 * The place of the lines depends on where the object begins, so every method takes its offset in the region, which is
 * itself aligned to lines. Stateless.
 */
public final class ObjectLines {
    /** Bytes of a line. */
    public static final int LINE = 64;

    /** Bytes of a line version. */
    public static final int VERSION_LENGTH = Short.BYTES;

    private static final int IN_LINE = LINE - VERSION_LENGTH;

    static final ValueLayout.OfShort VERSION = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The same at any address, as in the buffer of a reader. */
    private static final ValueLayout.OfShort VERSION_ANYWHERE = VERSION.withByteAlignment(1);

    private ObjectLines() {}

    /** Bytes of the line in which an object begins that are the object's. */
    private static int first(long start) {
        return LINE - (int) (start & (LINE - 1));
    }

    /**
     * Bytes that an object takes.
     *
     * @param start its offset in the region
     */
    public static int lengthInMemory(long start, int length) {
        int rest = Math.max(0, length - first(start));
        return length + (rest + IN_LINE - 1) / IN_LINE * VERSION_LENGTH;
    }

    /** Bytes that an object takes wherever it begins, as a multiple of the alignment. */
    public static int slotLength(int length) {
        int worst = lengthInMemory(LINE - FarmObjectDescriptor.ALIGNMENT, length);
        return (worst + FarmObjectDescriptor.ALIGNMENT - 1) & -FarmObjectDescriptor.ALIGNMENT;
    }

    /**
     * Takes the bytes of an object out of memory, without line versions.
     *
     * @param memory where the object is
     * @param at where it begins in that memory
     * @param start its offset in the region
     * @param into gets the bytes, from its start
     */
    public static void gather(MemorySegment memory, long at, long start, int length, MemorySegment into) {
        int run = Math.min(length, first(start));
        MemorySegment.copy(memory, at, into, 0, run);
        long from = at + run;
        for (int done = run; done < length; done += run) {
            run = Math.min(IN_LINE, length - done);
            MemorySegment.copy(memory, from + VERSION_LENGTH, into, done, run);
            from += LINE;
        }
    }

    /**
     * Puts bytes of an object into memory, between the line versions.
     *
     * @param bytes of the object, from its start
     * @param skip how many of them to leave out
     * @param length how many the object has
     * @param memory of the region
     * @param start offset of the object in it
     * @param steps writes
     */
    static void scatter(
            MemorySegment bytes, int skip, int length, MemorySegment memory, long start, MemorySteps steps) {
        int run = Math.min(length, first(start));
        steps.copy(bytes, skip, memory, start + skip, run - skip);
        long to = start + run;
        for (int done = run; done < length; done += run) {
            run = Math.min(IN_LINE, length - done);
            steps.copy(bytes, done, memory, to + VERSION_LENGTH, run);
            to += LINE;
        }
    }

    /**
     * A word of an object.
     *
     * @param memory of the region
     * @param start offset of the object in it
     * @param at offset of the word in the object
     */
    public static long getLong(MemorySegment memory, long start, int at) {
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value |= Byte.toUnsignedLong(memory.get(ValueLayout.JAVA_BYTE, place(start, at + i))) << (i * Byte.SIZE);
        }
        return value;
    }

    private static long place(long start, int at) {
        int beyond = at - first(start);
        return start + at + (beyond < 0 ? 0 : (long) (beyond / IN_LINE + 1) * VERSION_LENGTH);
    }

    /** Writes all line versions of an object. */
    static void setVersions(MemorySegment memory, long start, int length, short version, MemorySteps steps) {
        long end = start + lengthInMemory(start, length);
        for (long line = start + first(start); line < end; line += LINE) {
            memory.set(VERSION, line, version);
            steps.step(ObjectStep.LINE_WRITTEN);
        }
    }

    /**
     * True if all line versions of an object are the same.
     *
     * @param memory where the object is
     * @param at where it begins in that memory
     * @param start its offset in the region
     * @param version what they must be
     */
    static boolean haveVersion(MemorySegment memory, long at, long start, int length, short version) {
        long end = at + lengthInMemory(start, length);
        for (long line = at + first(start); line < end; line += LINE) {
            if (memory.get(VERSION_ANYWHERE, line) != version) {
                return false;
            }
        }
        return true;
    }
}
