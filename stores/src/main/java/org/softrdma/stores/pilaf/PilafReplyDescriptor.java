package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A reply: a SEND of the server, little endian, 8-byte aligned in the buffers of both ends. The server writes it.
 *
 * <pre>
 *  31                                             8 7             0
 * +-----------------------------------------------+---------------+
 * |  0                                            |  status       |   0
 * +-----------------------------------------------+---------------+
 * |  bytes of the value                                           |   4
 * +---------------------------------------------------------------+
 * |  number and slot, as in the request                           |   8
 * |                                                               |  12
 * +---------------------------------------------------------------+
 * |  value: of a GET that has found one, of a HELLO               |  16
 * +---------------------------------------------------------------+
 * </pre>
 */
final class PilafReplyDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Found, stored, removed, welcome. */
    static final byte DONE = 0;

    /** There is no such key. */
    static final byte MISSING = 1;

    /** No memory. */
    static final byte FULL = 2;

    static final int STATUS_OFFSET = 0;
    static final int VALUE_LENGTH_OFFSET = STATUS_OFFSET + Integer.BYTES;
    static final int TICKET_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int VALUE_OFFSET = TICKET_OFFSET + Long.BYTES;

    private PilafReplyDescriptor() {}

    static void putHeader(MemorySegment memory, long reply, byte status, int valueLength, long ticket) {
        memory.set(INT, reply + STATUS_OFFSET, status);
        memory.set(INT, reply + VALUE_LENGTH_OFFSET, valueLength);
        memory.set(LONG, reply + TICKET_OFFSET, ticket);
    }

    static byte status(MemorySegment memory, long reply) {
        return (byte) memory.get(INT, reply + STATUS_OFFSET);
    }

    static int valueLength(MemorySegment memory, long reply) {
        return memory.get(INT, reply + VALUE_LENGTH_OFFSET);
    }

    static long ticket(MemorySegment memory, long reply) {
        return memory.get(LONG, reply + TICKET_OFFSET);
    }

    /** True if it is a reply that fits the bytes that came. Call it before anything else is believed. */
    static boolean isValid(MemorySegment memory, long reply, long available) {
        return available >= VALUE_OFFSET
                && memory.get(INT, reply + STATUS_OFFSET) >= DONE
                && memory.get(INT, reply + STATUS_OFFSET) <= FULL
                && valueLength(memory, reply) >= 0
                && VALUE_OFFSET + (long) valueLength(memory, reply) == available;
    }
}
