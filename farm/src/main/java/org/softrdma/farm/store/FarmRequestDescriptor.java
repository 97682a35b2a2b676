package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A client's request to change a pair: a message in the ring at the server, little endian.
 *
 * <pre>
 *  63                            32 31            16 15     8 7      0
 * +--------------------------------+---------------+--------+--------+
 * |  value length                  |  key length   |   0    |  op    |   0  op: 1 put, 2 remove
 * +--------------------------------+---------------+--------+--------+
 * |  number of the request, which the reply repeats                  |   8
 * +------------------------------------------------------------------+
 * |  key, value                                                      |  16
 * +------------------------------------------------------------------+
 * </pre>
 */
final class FarmRequestDescriptor {
    static final int OPERATION_OFFSET = 0;
    static final int KEY_LENGTH_OFFSET = OPERATION_OFFSET + Short.BYTES;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Short.BYTES;
    static final int NUMBER_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = NUMBER_OFFSET + Long.BYTES;

    static final byte PUT = 1;
    static final byte REMOVE = 2;

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private FarmRequestDescriptor() {}

    static int length(int keyLength, int valueLength) {
        return KEY_OFFSET + keyLength + valueLength;
    }

    static void write(MemorySegment memory, long at, byte operation, int keyLength, int valueLength, long number) {
        memory.set(SHORT, at + OPERATION_OFFSET, operation);
        memory.set(SHORT, at + KEY_LENGTH_OFFSET, (short) keyLength);
        memory.set(INT, at + VALUE_LENGTH_OFFSET, valueLength);
        memory.set(LONG, at + NUMBER_OFFSET, number);
    }

    static byte operation(MemorySegment memory, long at) {
        return memory.get(ValueLayout.JAVA_BYTE, at + OPERATION_OFFSET);
    }

    static int keyLength(MemorySegment memory, long at) {
        return Short.toUnsignedInt(memory.get(SHORT, at + KEY_LENGTH_OFFSET));
    }

    static int valueLength(MemorySegment memory, long at) {
        return memory.get(INT, at + VALUE_LENGTH_OFFSET);
    }

    static long number(MemorySegment memory, long at) {
        return memory.get(LONG, at + NUMBER_OFFSET);
    }

    /** True if a message of this length is a request, with a key. */
    static boolean isValid(MemorySegment memory, long at, int length) {
        if (length <= KEY_OFFSET) {
            return false;
        }
        byte operation = operation(memory, at);
        int key = keyLength(memory, at);
        int value = valueLength(memory, at);
        return (operation == PUT || (operation == REMOVE && value == 0))
                && key >= 1
                && value >= 0
                && (long) KEY_OFFSET + key + value == length;
    }
}
