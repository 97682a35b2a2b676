package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * An answer: a SEND of the server, little endian, 8-byte aligned in the buffers of both ends. The server writes it.
 *
 * <pre>
 *  31                            16 15             8 7             0
 * +---------------------------------------------------------------+
 * |  slot of the request                                          |   0
 * +---------------------------------------------------------------+
 * |  its number; 0 in the published form, which has none          |   4
 * +---------------------------------------------------------------+
 * |  its attempt; 0 likewise                                      |   8
 * +-----------------------------------------------+---------------+
 * |  0                                            |  status       |  12   0 done, 1 missing, 2 full
 * +-----------------------------------------------+---------------+
 * |  value: of a GET that has found one                           |  16   as long as the message
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdReplyDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Found, stored, removed. */
    public static final byte DONE = 0;

    /** There is no such key. */
    public static final byte MISSING = 1;

    /** There is no room for the pair. */
    public static final byte FULL = 2;

    static final int SLOT_OFFSET = 0;
    static final int NUMBER_OFFSET = SLOT_OFFSET + Integer.BYTES;
    static final int ATTEMPT_OFFSET = NUMBER_OFFSET + Integer.BYTES;
    static final int STATUS_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;

    /** Where the value begins. */
    public static final int VALUE_OFFSET = STATUS_OFFSET + Integer.BYTES;

    private HerdReplyDescriptor() {}

    /** Bytes of an answer. */
    public static int length(int valueLength) {
        return VALUE_OFFSET + valueLength;
    }

    /** Writes all but the value. */
    public static void put(MemorySegment memory, long at, int slot, int number, int attempt, byte status) {
        memory.set(INT, at + SLOT_OFFSET, slot);
        memory.set(INT, at + NUMBER_OFFSET, number);
        memory.set(INT, at + ATTEMPT_OFFSET, attempt);
        memory.set(INT, at + STATUS_OFFSET, status);
    }

    /** The slot of the request. */
    public static int slot(MemorySegment memory, long at) {
        return memory.get(INT, at + SLOT_OFFSET);
    }

    /** The number of the request. */
    public static int number(MemorySegment memory, long at) {
        return memory.get(INT, at + NUMBER_OFFSET);
    }

    /** The attempt of the request. */
    public static int attempt(MemorySegment memory, long at) {
        return memory.get(INT, at + ATTEMPT_OFFSET);
    }

    /** What became of it. */
    public static byte status(MemorySegment memory, long at) {
        return (byte) memory.get(INT, at + STATUS_OFFSET);
    }

    /** True if it is an answer. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available, int slots) {
        return available >= VALUE_OFFSET
                && slot(memory, at) >= 0
                && slot(memory, at) < slots
                && isStatus(memory.get(INT, at + STATUS_OFFSET), available == VALUE_OFFSET);
    }

    private static boolean isStatus(int status, boolean alone) {
        return status == DONE || (alone && (status == MISSING || status == FULL));
    }
}
