package org.softrdma.stores.herd.sd;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * An entry of the data table: all have one size, a multiple of 64. Little endian, in the memory of the server's process.
 * The worker writes it.
 *
 * <pre>
 *  31                            16 15                            0
 * +---------------------------------------------------------------+
 * |  hash of the key, 64 bits                                     |   0
 * |                                                               |   4
 * +-------------------------------+-------------------------------+
 * |  0                            |  bytes of the key             |   8
 * +-------------------------------+-------------------------------+
 * |  bytes of the value                                           |  12
 * +---------------------------------------------------------------+
 * |  key, value, whatever was there                               |  16
 * +---------------------------------------------------------------+
 * </pre>
 */
final class NessieSdEntryDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int LINE = 64;

    static final int HASH_OFFSET = 0;
    static final int KEY_LENGTH_OFFSET = HASH_OFFSET + Long.BYTES;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;

    private NessieSdEntryDescriptor() {}

    /** Bytes of an entry with room for any pair. */
    static int length(int maxKeyLength, int maxValueLength) {
        return Math.addExact(Math.addExact(KEY_OFFSET + maxKeyLength, maxValueLength), LINE - 1) & -LINE;
    }

    static void putHeader(MemorySegment memory, long entry, long hash, int keyLength, int valueLength) {
        memory.set(LONG, entry + HASH_OFFSET, hash);
        memory.set(INT, entry + KEY_LENGTH_OFFSET, keyLength);
        memory.set(INT, entry + VALUE_LENGTH_OFFSET, valueLength);
    }

    static long hash(MemorySegment memory, long entry) {
        return memory.get(LONG, entry + HASH_OFFSET);
    }

    static int keyLength(MemorySegment memory, long entry) {
        return memory.get(INT, entry + KEY_LENGTH_OFFSET);
    }

    static int valueLength(MemorySegment memory, long entry) {
        return memory.get(INT, entry + VALUE_LENGTH_OFFSET);
    }

    static long valueOffset(MemorySegment memory, long entry) {
        return entry + KEY_OFFSET + keyLength(memory, entry);
    }

    /** True if it is the pair of this key, which has this hash. */
    static boolean isOf(MemorySegment memory, long entry, MemorySegment keys, long key, int keyLength, long hash) {
        long from = entry + KEY_OFFSET;
        return hash(memory, entry) == hash
                && keyLength(memory, entry) == keyLength
                && MemorySegment.mismatch(memory, from, from + keyLength, keys, key, key + keyLength) < 0;
    }
}
