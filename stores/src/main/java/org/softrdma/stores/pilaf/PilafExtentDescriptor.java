package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * An extent: a pair. 64-byte aligned, a multiple of 8 bytes long, little endian. The server writes it before the entry
 * that names it, and uses the memory again as soon as no entry does; clients READ it. The checksum over all of it is in
 * the entry.
 *
 * <pre>
 *  31                            16 15                            0
 * +-------------------------------+-------------------------------+
 * |  0                            |  bytes of the key             |   0
 * +-------------------------------+-------------------------------+
 * |  bytes of the value                                           |   4
 * +---------------------------------------------------------------+
 * |  key, value, zeroes to a multiple of 8                        |   8
 * +---------------------------------------------------------------+
 * </pre>
 */
final class PilafExtentDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int KEY_LENGTH_MASK = 0xffff;

    static final int KEY_LENGTH_OFFSET = 0;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;

    private PilafExtentDescriptor() {}

    /** Bytes of the extent of a pair. */
    static int length(int keyLength, int valueLength) {
        return KEY_OFFSET + keyLength + valueLength + Long.BYTES - 1 & -Long.BYTES;
    }

    /** The first word. */
    static long header(int keyLength, int valueLength) {
        return Integer.toUnsignedLong(keyLength) | (long) valueLength << Integer.SIZE;
    }

    static int keyLength(MemorySegment memory, long extent) {
        return memory.get(INT, extent + KEY_LENGTH_OFFSET) & KEY_LENGTH_MASK;
    }

    static int valueLength(MemorySegment memory, long extent) {
        return memory.get(INT, extent + VALUE_LENGTH_OFFSET);
    }

    static long valueOffset(MemorySegment memory, long extent) {
        return extent + KEY_OFFSET + keyLength(memory, extent);
    }

    /** True if the lengths that it tells fit the bytes that were read. Call it before anything else is believed. */
    static boolean isValid(MemorySegment memory, long extent, int available) {
        if (available < KEY_OFFSET) {
            return false;
        }
        long keyLength = memory.get(INT, extent + KEY_LENGTH_OFFSET);
        long valueLength = memory.get(INT, extent + VALUE_LENGTH_OFFSET);
        return keyLength > 0
                && keyLength <= KEY_LENGTH_MASK
                && valueLength >= 0
                && KEY_OFFSET + keyLength + valueLength <= available
                && length((int) keyLength, (int) valueLength) == available;
    }

    /** True if the extent is of this key. */
    static boolean isOf(MemorySegment memory, long extent, MemorySegment keys, long key, int keyLength) {
        long from = extent + KEY_OFFSET;
        return keyLength(memory, extent) == keyLength
                && MemorySegment.mismatch(memory, from, from + keyLength, keys, key, key + keyLength) < 0;
    }
}
