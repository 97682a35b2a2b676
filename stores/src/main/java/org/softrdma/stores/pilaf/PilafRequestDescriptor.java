package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A request: a SEND of a client, little endian, 8-byte aligned in the buffers of both ends. The client writes it.
 *
 * <pre>
 *  31                            16 15             8 7             0
 * +-------------------------------+---------------+---------------+
 * |  bytes of the key             |  0            |  operation    |   0
 * +-------------------------------+---------------+---------------+
 * |  bytes of the value                                           |   4
 * +---------------------------------------------------------------+
 * |  number, more than that of every earlier request              |   8
 * |                               +-------------------------------+
 * |                               |  message slot of the client   |      bits 0 to 15 of the 64
 * +-------------------------------+-------------------------------+
 * |  key, value                                                   |  16
 * +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The first request on a connection is HELLO, without a key. Its value is
 *
 * <pre>
 * +---------------------------------------------------------------+
 * |  magic                                                        |   0
 * +---------------------------------------------------------------+
 * |  version of these messages: 1                                 |   4
 * +---------------------------------------------------------------+
 * |  the client, as it has named itself                           |   8
 * |                                                               |  12
 * +---------------------------------------------------------------+
 * </pre>
 */
final class PilafRequestDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int OPERATION_MASK = 0xff;
    private static final int SLOT_MASK = 0xffff;

    static final byte HELLO = 1;
    static final byte GET = 2;
    static final byte PUT = 3;
    static final byte REMOVE = 4;

    /** "PIL1", the last byte first. */
    static final int MAGIC = 0x314c_4950;

    static final int VERSION = 1;

    static final int OPERATION_OFFSET = 0;
    static final int VALUE_LENGTH_OFFSET = OPERATION_OFFSET + Integer.BYTES;
    static final int NUMBER_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = NUMBER_OFFSET + Long.BYTES;

    static final int MAGIC_OFFSET = KEY_OFFSET;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int CLIENT_OFFSET = VERSION_OFFSET + Integer.BYTES;
    static final int HELLO_LENGTH = CLIENT_OFFSET + Long.BYTES;

    private PilafRequestDescriptor() {}

    /** Bytes of a request. */
    static int length(int keyLength, int valueLength) {
        return KEY_OFFSET + keyLength + valueLength;
    }

    static void putHeader(
            MemorySegment memory, long request, byte operation, int keyLength, int valueLength, long number, int slot) {
        memory.set(INT, request + OPERATION_OFFSET, operation | keyLength << Short.SIZE);
        memory.set(INT, request + VALUE_LENGTH_OFFSET, valueLength);
        memory.set(LONG, request + NUMBER_OFFSET, number << Short.SIZE | slot);
    }

    static void putHello(MemorySegment memory, long request, long client) {
        putHeader(memory, request, HELLO, 0, HELLO_LENGTH - KEY_OFFSET, 0, 0);
        memory.set(INT, request + MAGIC_OFFSET, MAGIC);
        memory.set(INT, request + VERSION_OFFSET, VERSION);
        memory.set(LONG, request + CLIENT_OFFSET, client);
    }

    static byte operation(MemorySegment memory, long request) {
        return (byte) (memory.get(INT, request + OPERATION_OFFSET) & OPERATION_MASK);
    }

    static int keyLength(MemorySegment memory, long request) {
        return memory.get(INT, request + OPERATION_OFFSET) >>> Short.SIZE;
    }

    static int valueLength(MemorySegment memory, long request) {
        return memory.get(INT, request + VALUE_LENGTH_OFFSET);
    }

    /** Number and slot in one: more than that of every earlier request of the slot. */
    static long ticket(MemorySegment memory, long request) {
        return memory.get(LONG, request + NUMBER_OFFSET);
    }

    static int slot(long ticket) {
        return (int) ticket & SLOT_MASK;
    }

    static long number(long ticket) {
        return ticket >>> Short.SIZE;
    }

    static long helloClient(MemorySegment memory, long request) {
        return memory.get(LONG, request + CLIENT_OFFSET);
    }

    /** True if it is a request that fits the bytes that came. Call it before anything else is believed. */
    static boolean isValid(MemorySegment memory, long request, long available, int maxKeyLength, int maxValueLength) {
        if (available < KEY_OFFSET) {
            return false;
        }
        int keyLength = keyLength(memory, request);
        int valueLength = valueLength(memory, request);
        if (valueLength < 0 || KEY_OFFSET + (long) keyLength + valueLength != available) {
            return false;
        }
        boolean hasKey = keyLength > 0 && keyLength <= maxKeyLength;
        return switch (operation(memory, request)) {
            case HELLO ->
                available == HELLO_LENGTH
                        && keyLength == 0
                        && memory.get(INT, request + MAGIC_OFFSET) == MAGIC
                        && memory.get(INT, request + VERSION_OFFSET) == VERSION;
            case GET, REMOVE -> hasKey && valueLength == 0;
            case PUT -> hasKey && valueLength <= maxValueLength;
            default -> false;
        };
    }
}
