package org.softrdma.stores.hash;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A hash of bytes in memory by a seed, the same on every machine: folded multiplications of 64 by 64 bits, eight bytes
 * at a time. It spreads well, but is no defence against who knows the seed. Stateless; allocates nothing.
 */
public final class SeededHash {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Odd numbers with about as many ones as zeroes, of wyhash. */
    private static final long FIRST = 0xa076_1d64_78bd_642fL;

    private static final long SECOND = 0xe703_7ed1_a0b4_28dbL;

    private SeededHash() {}

    /**
     * The hash of a range.
     *
     * @param memory in which it is
     * @param offset where it begins
     * @param length its bytes
     * @param seed another seed gives another hash
     */
    public static long of(MemorySegment memory, long offset, int length, long seed) {
        long hash = seed ^ FIRST;
        int whole = length & -Long.BYTES;
        for (int at = 0; at < whole; at += Long.BYTES) {
            hash = fold(hash ^ memory.get(WORD, offset + at), SECOND);
        }
        long rest = 0;
        for (int at = whole; at < length; at++) {
            rest = rest << Byte.SIZE | Byte.toUnsignedLong(memory.get(ValueLayout.JAVA_BYTE, offset + at));
        }
        return fold(fold(hash ^ rest, SECOND) ^ length, FIRST);
    }

    /** Another hash of what has this one. */
    public static long again(long hash, long seed) {
        return fold(hash ^ seed, FIRST);
    }

    private static long fold(long word, long factor) {
        long mixed = word ^ word >>> Integer.SIZE; // else a word of 0 would swallow the factor
        return mixed * factor ^ Math.unsignedMultiplyHigh(mixed, factor) ^ factor;
    }
}
