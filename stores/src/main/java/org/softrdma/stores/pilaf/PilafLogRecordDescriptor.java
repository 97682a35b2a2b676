package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A record of the log: a change. A multiple of 8 bytes, little endian. The server writes it, and reads it when it
 * starts. The paper gives no format.
 *
 * <pre>
 *  31                            16 15             8 7             0
 * +---------------------------------------------------------------+
 * |  bytes of the record                                          |   0
 * +---------------------------------------------------------------+
 * |  CRC-32C over bytes 8 to the end                              |   4
 * +-------------------------------+---------------+---------------+
 * |  bytes of the key             |  0            |  operation    |   8   PUT or REMOVE, as in a request
 * +-------------------------------+---------------+---------------+
 * |  bytes of the value                                           |  12
 * +---------------------------------------------------------------+
 * |  key, value, zeroes to a multiple of 8                        |  16
 * +---------------------------------------------------------------+
 * </pre>
 */
final class PilafLogRecordDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int OPERATION_MASK = 0xff;

    static final int LENGTH_OFFSET = 0;
    static final int CRC_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    static final int OPERATION_OFFSET = CRC_OFFSET + Integer.BYTES;
    static final int VALUE_LENGTH_OFFSET = OPERATION_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;

    private PilafLogRecordDescriptor() {}

    /** Bytes of a record. */
    static int length(int keyLength, int valueLength) {
        return KEY_OFFSET + keyLength + valueLength + Long.BYTES - 1 & -Long.BYTES;
    }

    /** Writes a record whose key and value are there already, and zeroes behind them. */
    static void seal(
            MemorySegment memory,
            ByteBuffer view,
            int record,
            byte operation,
            int keyLength,
            int valueLength,
            CRC32C crc) {
        int length = length(keyLength, valueLength);
        memory.set(INT, record + LENGTH_OFFSET, length);
        memory.set(INT, record + OPERATION_OFFSET, operation | keyLength << Short.SIZE);
        memory.set(INT, record + VALUE_LENGTH_OFFSET, valueLength);
        memory.set(INT, record + CRC_OFFSET, crc(view, record, length, crc));
    }

    private static int crc(ByteBuffer view, int record, int length, CRC32C crc) {
        crc.reset();
        view.limit(record + length).position(record + OPERATION_OFFSET);
        crc.update(view);
        return (int) crc.getValue();
    }

    static int length(MemorySegment memory, long record) {
        return memory.get(INT, record + LENGTH_OFFSET);
    }

    static byte operation(MemorySegment memory, long record) {
        return (byte) (memory.get(INT, record + OPERATION_OFFSET) & OPERATION_MASK);
    }

    static int keyLength(MemorySegment memory, long record) {
        return memory.get(INT, record + OPERATION_OFFSET) >>> Short.SIZE;
    }

    static int valueLength(MemorySegment memory, long record) {
        return memory.get(INT, record + VALUE_LENGTH_OFFSET);
    }

    /** True if a whole record is there. Call it before anything else is believed. */
    static boolean isValid(MemorySegment memory, ByteBuffer view, int record, long available, CRC32C crc) {
        if (available < KEY_OFFSET) {
            return false;
        }
        int length = length(memory, record);
        long keyLength = keyLength(memory, record);
        long valueLength = valueLength(memory, record);
        return length <= available
                && keyLength > 0
                && valueLength >= 0
                && KEY_OFFSET + keyLength + valueLength <= length
                && length((int) keyLength, (int) valueLength) == length
                && crc(view, record, length, crc) == memory.get(INT, record + CRC_OFFSET)
                && (operation(memory, record) == PilafRequestDescriptor.PUT
                        || operation(memory, record) == PilafRequestDescriptor.REMOVE);
    }
}
