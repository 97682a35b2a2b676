package org.softrdma.stores.herd.mica;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A pair in the log: 8-byte aligned, little endian, in the memory of the server's process. The worker writes it.
 *
 * <pre>
 *  31                                                            0
 * +---------------------------------------------------------------+
 * |  bytes of the key                                             |   0
 * +---------------------------------------------------------------+
 * |  bytes of the value                                           |   4
 * +---------------------------------------------------------------+
 * |  key, value, whatever was there to a multiple of 8            |   8
 * +---------------------------------------------------------------+
 * </pre>
 */
final class MicaPairDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final int KEY_LENGTH_OFFSET = 0;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;

    private MicaPairDescriptor() {}

    /** Bytes of a pair in the log. */
    static int length(int keyLength, int valueLength) {
        return KEY_OFFSET + keyLength + valueLength + Long.BYTES - 1 & -Long.BYTES;
    }

    static void putLengths(MemorySegment memory, long pair, int keyLength, int valueLength) {
        memory.set(INT, pair + KEY_LENGTH_OFFSET, keyLength);
        memory.set(INT, pair + VALUE_LENGTH_OFFSET, valueLength);
    }

    static int keyLength(MemorySegment memory, long pair) {
        return memory.get(INT, pair + KEY_LENGTH_OFFSET);
    }

    static int valueLength(MemorySegment memory, long pair) {
        return memory.get(INT, pair + VALUE_LENGTH_OFFSET);
    }

    static long valueOffset(MemorySegment memory, long pair) {
        return pair + KEY_OFFSET + keyLength(memory, pair);
    }

    /** True if it is the pair of this key. */
    static boolean isOf(MemorySegment memory, long pair, MemorySegment keys, long key, int keyLength) {
        long from = pair + KEY_OFFSET;
        return keyLength(memory, pair) == keyLength
                && MemorySegment.mismatch(memory, from, from + keyLength, keys, key, key + keyLength) < 0;
    }
}
