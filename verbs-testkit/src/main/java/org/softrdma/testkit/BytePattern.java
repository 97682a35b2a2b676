package org.softrdma.testkit;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Bytes that depend on a seed and on their offset, so that data from another place, another round or another pattern is
 * detected. No byte is 0 or {@link #POISON} more often than by chance.
 *
 * @param seed selects the pattern
 */
public record BytePattern(long seed) {
    /** Cases overwrite memory with this byte, to see whether anything still reads or changes it. */
    public static final byte POISON = (byte) 0xDB;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    /**
     * Fills memory with the pattern from its start.
     *
     * @param memory to be filled
     */
    public void fill(MemorySegment memory) {
        long length = memory.byteSize();
        long offset = 0;
        for (; offset + Long.BYTES <= length; offset += Long.BYTES) {
            memory.set(LONG, offset, word(offset));
        }
        for (; offset < length; offset++) {
            memory.set(ValueLayout.JAVA_BYTE, offset, at(offset));
        }
    }

    /**
     * Fails unless memory holds the pattern from its start.
     *
     * @param memory to be looked at
     * @param what names it in the message
     */
    public void require(MemorySegment memory, String what) {
        long offset = firstMismatch(memory, 0);
        if (offset >= 0) {
            throw new AssertionError(what + ": byte " + offset + " of " + memory.byteSize() + " is "
                    + hex(memory.get(ValueLayout.JAVA_BYTE, offset)) + ", expected " + hex(at(offset)) + " of pattern "
                    + seed);
        }
    }

    /**
     * True if memory holds the pattern.
     *
     * @param memory to be looked at
     */
    public boolean matches(MemorySegment memory) {
        return firstMismatch(memory, 0) < 0;
    }

    /**
     * Fails unless memory holds a part of the pattern.
     *
     * @param memory to be looked at
     * @param patternOffset offset in the pattern of the first byte of the memory
     * @param what names it in the message
     */
    public void requirePart(MemorySegment memory, long patternOffset, String what) {
        for (long offset = 0; offset < memory.byteSize(); offset++) {
            byte found = memory.get(ValueLayout.JAVA_BYTE, offset);
            if (found != at(patternOffset + offset)) {
                throw new AssertionError(what + ": byte " + offset + " of " + memory.byteSize() + " is " + hex(found)
                        + ", expected " + hex(at(patternOffset + offset)));
            }
        }
    }

    /**
     * Fails unless every byte of memory has one value.
     *
     * @param memory to be looked at
     * @param what names the memory in the message
     */
    public static void requireAll(MemorySegment memory, byte value, String what) {
        long repeated = repeated(value);
        long offset = 0;
        while (offset + Long.BYTES <= memory.byteSize() && memory.get(LONG, offset) == repeated) {
            offset += Long.BYTES;
        }
        for (; offset < memory.byteSize(); offset++) {
            byte found = memory.get(ValueLayout.JAVA_BYTE, offset);
            if (found != value) {
                throw new AssertionError(what + ": byte " + offset + " of " + memory.byteSize() + " changed to "
                        + hex(found) + " from " + hex(value));
            }
        }
    }

    /**
     * Fails unless every byte of memory has one of two values.
     *
     * @param memory to be looked at
     * @param one a value
     * @param other another
     * @param what names the memory in the message
     */
    public static void requireEither(MemorySegment memory, byte one, byte other, String what) {
        long ones = repeated(one);
        long others = repeated(other);
        for (long offset = 0; offset < memory.byteSize(); offset++) {
            while (offset + Long.BYTES <= memory.byteSize()
                    && (memory.get(LONG, offset) == ones || memory.get(LONG, offset) == others)) {
                offset += Long.BYTES;
            }
            if (offset < memory.byteSize()) {
                byte found = memory.get(ValueLayout.JAVA_BYTE, offset);
                if (found != one && found != other) {
                    throw new AssertionError(what + ": byte " + offset + " of " + memory.byteSize() + " is "
                            + hex(found) + ", expected " + hex(one) + " or " + hex(other));
                }
            }
        }
    }

    private static long repeated(byte value) {
        return (value & 0xFFL) * 0x0101010101010101L;
    }

    /**
     * The byte at an offset.
     *
     * @param offset 0 or more
     */
    public byte at(long offset) {
        return (byte) (word(offset & -Long.BYTES) >>> (Byte.SIZE * (offset & (Long.BYTES - 1))));
    }

    private long firstMismatch(MemorySegment memory, long from) {
        long length = memory.byteSize();
        long offset = from;
        while (offset + Long.BYTES <= length && memory.get(LONG, offset) == word(offset)) {
            offset += Long.BYTES;
        }
        for (; offset < length; offset++) {
            if (memory.get(ValueLayout.JAVA_BYTE, offset) != at(offset)) {
                return offset;
            }
        }
        return -1;
    }

    /** The eight bytes at an offset that is a multiple of eight (SplitMix64). */
    private long word(long offset) {
        long z = seed * GOLDEN + (offset + Long.BYTES) * 0xD1342543DE82EF95L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    private static String hex(byte value) {
        return String.format(java.util.Locale.ROOT, "0x%02x", value);
    }
}
