package org.softrdma.stores.nessie.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * An entry of a data table: a pair, of fixed size whatever it holds, 8-byte aligned, little endian. The worker that
 * puts it WRITEs it as a whole; then only its last byte changes, by compare-and-swap of the last 8 bytes (as
 * published, by a WRITE of it), until it is used again. Workers READ it.
 *
 * <pre>
 *  31                            16 15                            0
 * +-------------------------------+-------------------------------+
 * |  0                            |  bytes of the key             |   0
 * +-------------------------------+-------------------------------+
 * |  bytes of the value                                           |   4
 * +---------------------------------------------------------------+
 * |  reference: by which words name it                            |   8
 * +---------------------------------------------------------------+
 * |  0                                                            |  12
 * +---------------------------------------------------------------+
 * |  key, value, anything                                         |  16
 * +---------------------------------------------------------------+
 * |  CRC-32C of bytes 0 to the last of the value                  |  -8
 * +-----------------+---------------------------------------------+
 * |  state 7 | 0    |  0                                          |  -4   state: 0 pending, 1 valid, 2 abandoned
 * +-----------------+---------------------------------------------+
 * </pre>
 *
 * <p>The paper gives the last byte: 7 bits that say whether the entry is valid, and the watermark, which is not used
 * here. Reference, CRC and the state "abandoned" are ours. Owned by one thread.
 */
public final class NessieDataDescriptor {
    /** Nobody may believe it yet. */
    public static final int PENDING = 0;

    /** A pair. */
    public static final int VALID = 1;

    /** Its worker has given it up. */
    public static final int ABANDONED = 2;

    /** Where the key is. */
    public static final int KEY_OFFSET = 16;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int KEY_LENGTH_MASK = 0xffff;
    private static final int LENGTHS_OFFSET = 0;
    private static final int VALUE_LENGTH_OFFSET = LENGTHS_OFFSET + Integer.BYTES;
    private static final int REFERENCE_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    private static final int SPARE_OFFSET = REFERENCE_OFFSET + Integer.BYTES;
    private static final int TAIL = Long.BYTES;
    private static final int STATE_SHIFT = Long.SIZE - Byte.SIZE + 1;

    private final int length;
    private final CRC32C crc = new CRC32C();

    /**
     * Entries for keys and values up to these lengths.
     *
     * @param maxKeyLength bytes
     * @param maxValueLength bytes
     */
    public NessieDataDescriptor(int maxKeyLength, int maxValueLength) {
        length = (KEY_OFFSET + maxKeyLength + maxValueLength + Long.BYTES - 1 & -Long.BYTES) + TAIL;
    }

    /** Bytes of every entry. */
    public int length() {
        return length;
    }

    /** Where the last 8 bytes begin. */
    public int tailOffset() {
        return length - TAIL;
    }

    /**
     * Completes a pending entry whose key and value are there.
     *
     * @param memory with the entry
     * @param view of the same memory; its position and limit are changed
     * @param entry where it begins
     * @param keyLength bytes
     * @param valueLength bytes
     * @param reference by which words are to name it
     */
    public void seal(MemorySegment memory, ByteBuffer view, int entry, int keyLength, int valueLength, int reference) {
        memory.set(INT, entry + LENGTHS_OFFSET, keyLength);
        memory.set(INT, entry + VALUE_LENGTH_OFFSET, valueLength);
        memory.set(INT, entry + REFERENCE_OFFSET, reference);
        memory.set(INT, entry + SPARE_OFFSET, 0);
        memory.set(LONG, entry + tailOffset(), tail(checksum(memory, view, entry), PENDING));
    }

    private int checksum(MemorySegment memory, ByteBuffer view, int entry) {
        crc.reset();
        view.limit(entry + KEY_OFFSET + keyLength(memory, entry) + valueLength(memory, entry))
                .position(entry);
        crc.update(view);
        return (int) crc.getValue();
    }

    private static long tail(int checksum, int state) {
        return Integer.toUnsignedLong(checksum) | (long) state << STATE_SHIFT;
    }

    /** The last 8 bytes, with another state. */
    public static long withState(long tail, int state) {
        return tail((int) tail, state);
    }

    /** The state in the last 8 bytes. */
    public static int state(long tail) {
        return (int) (tail >>> STATE_SHIFT);
    }

    /** The last byte of an entry in a state. */
    public static byte lastByte(int state) {
        return (byte) (state << 1);
    }

    /** The last 8 bytes. */
    public long tail(MemorySegment memory, long entry) {
        return memory.get(LONG, entry + tailOffset());
    }

    /** Bytes of the key. */
    public static int keyLength(MemorySegment memory, long entry) {
        return memory.get(INT, entry + LENGTHS_OFFSET) & KEY_LENGTH_MASK;
    }

    /** Bytes of the value. */
    public static int valueLength(MemorySegment memory, long entry) {
        return memory.get(INT, entry + VALUE_LENGTH_OFFSET);
    }

    /** By which words name it. */
    public static int reference(MemorySegment memory, long entry) {
        return memory.get(INT, entry + REFERENCE_OFFSET);
    }

    /** Where the value begins. */
    public static long valueOffset(MemorySegment memory, long entry) {
        return entry + KEY_OFFSET + keyLength(memory, entry);
    }

    /** True if its lengths fit into it. Call it before anything else is believed. */
    public boolean fits(MemorySegment memory, long entry) {
        int valueLength = valueLength(memory, entry);
        return valueLength >= 0 && KEY_OFFSET + (long) keyLength(memory, entry) + valueLength <= tailOffset();
    }

    /** True if it is what a worker has written as a whole under this name. */
    public boolean isWhole(MemorySegment memory, ByteBuffer view, int entry, int reference) {
        return fits(memory, entry)
                && reference(memory, entry) == reference
                && (int) tail(memory, entry) == checksum(memory, view, entry);
    }

    /** True if its key is these bytes. */
    public static boolean isOf(MemorySegment memory, long entry, MemorySegment other, long key, int keyLength) {
        if (keyLength(memory, entry) != keyLength) {
            return false;
        }
        long at = entry + KEY_OFFSET;
        return MemorySegment.mismatch(memory, at, at + keyLength, other, key, key + keyLength) < 0;
    }
}
