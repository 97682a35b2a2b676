package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.client.OperationKind;

/**
 * A request in a slot, mended form: it ends where the slot ends, so that one WRITE of just the request leaves the last
 * word, which the server polls, always in the same place. Little endian; begins at a multiple of 8. The client writes it.
 *
 * <pre>
 *  31                            16 15             8 7             0
 * +---------------------------------------------------------------+
 * |  key, value, zeroes to a multiple of 8                        |
 * +-------------------------------+---------------+---------------+
 * |  bytes of the key             |  0            |  operation    |  -24   1 GET, 2 PUT, 3 REMOVE
 * +-------------------------------+---------------+---------------+
 * |  bytes of the value                                           |  -20
 * +---------------------------------------------------------------+
 * |  slot                                                         |  -16
 * +---------------------------------------------------------------+
 * |  attempt: which WRITE of this number it is, from 1            |  -12
 * +---------------------------------------------------------------+
 * |  number of the request in the slot, never 0                   |   -8   poll word
 * +---------------------------------------------------------------+
 * |  CRC-32C of all before it                                     |   -4
 * +---------------------------------------------------------------+
 *                                                                     0   end of the slot
 * </pre>
 *
 * <p>No two WRITEs that follow each other in a slot have the same poll word: either their numbers differ, or only their
 * attempts do, and a CRC of 32 bits tells apart what differs in 32 neighbouring bits only. So the server knows a new one
 * by its poll word, and writes nothing into the slot.
 */
public final class HerdRequestDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final int OPERATION_MASK = 0xffff;

    /** Bytes behind key and value. */
    public static final int TRAILER_LENGTH = 24;

    static final int OPERATION_OFFSET = -TRAILER_LENGTH;
    static final int VALUE_LENGTH_OFFSET = OPERATION_OFFSET + Integer.BYTES;
    static final int SLOT_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int ATTEMPT_OFFSET = SLOT_OFFSET + Integer.BYTES;
    static final int NUMBER_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int CRC_OFFSET = NUMBER_OFFSET + Integer.BYTES;

    private HerdRequestDescriptor() {}

    /** Bytes of a request. */
    public static int length(int keyLength, int valueLength) {
        return (keyLength + valueLength + Long.BYTES - 1 & -Long.BYTES) + TRAILER_LENGTH;
    }

    /** The poll word of a slot, and all that its device has put there before it if that keeps the order. */
    public static long pollWord(MemorySegment memory, long end) {
        return (long) WORD.getAcquire(memory, end + NUMBER_OFFSET);
    }

    /** The number of a request that is laid out, by its owner. */
    public static int number(MemorySegment memory, long end) {
        return memory.get(INT, end + NUMBER_OFFSET);
    }

    /** The number in a poll word. */
    static int number(long pollWord) {
        return (int) pollWord;
    }

    /** The checksum in a poll word. */
    static int crc(long pollWord) {
        return (int) (pollWord >>> Integer.SIZE);
    }

    /** Writes all behind key and value but the checksum. */
    static void putTrailer(MemorySegment memory, long end, HerdAsked asked) {
        memory.set(INT, end + OPERATION_OFFSET, code(asked.operation()) | asked.keyLength() << Short.SIZE);
        memory.set(INT, end + VALUE_LENGTH_OFFSET, asked.valueLength());
        memory.set(INT, end + SLOT_OFFSET, asked.slot());
        memory.set(INT, end + ATTEMPT_OFFSET, asked.attempt());
        memory.set(INT, end + NUMBER_OFFSET, asked.number());
    }

    static void putCrc(MemorySegment memory, long end, int crc) {
        memory.set(INT, end + CRC_OFFSET, crc);
    }

    private static int code(OperationKind operation) {
        return switch (operation) {
            case GET -> 1;
            case PUT -> 2;
            case REMOVE -> 3;
        };
    }

    /** The operation; null if there is none of its code, or if the byte behind it is not 0. */
    static @Nullable OperationKind operation(MemorySegment memory, long end) {
        return switch (memory.get(INT, end + OPERATION_OFFSET) & OPERATION_MASK) {
            case 1 -> OperationKind.GET;
            case 2 -> OperationKind.PUT;
            case 3 -> OperationKind.REMOVE;
            default -> null;
        };
    }

    static int keyLength(MemorySegment memory, long end) {
        return memory.get(INT, end + OPERATION_OFFSET) >>> Short.SIZE;
    }

    static int valueLength(MemorySegment memory, long end) {
        return memory.get(INT, end + VALUE_LENGTH_OFFSET);
    }

    static int slot(MemorySegment memory, long end) {
        return memory.get(INT, end + SLOT_OFFSET);
    }

    static int attempt(MemorySegment memory, long end) {
        return memory.get(INT, end + ATTEMPT_OFFSET);
    }
}
