package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A request in a slot as published: it ends where the slot ends, and its last word, which the server polls, is part of
 * the key. A key is 16 bytes, the hash of what the application calls so. Little endian; begins at a multiple of 8. The
 * client writes it; the server sets command and poll word to zero once it has taken it.
 *
 * <pre>
 *  31                                                            0
 * +---------------------------------------------------------------+
 * |  value, whatever was there to a multiple of 8                 |
 * +---------------------------------------------------------------+
 * |  command: 1 + bytes of the value of a PUT, -1 REMOVE, 0 GET   |  -24   a GET does not WRITE these 8 bytes: they are
 * +---------------------------------------------------------------+        zero because the server has cleared them
 * |  0                                                            |  -20
 * +---------------------------------------------------------------+
 * |  key, first word                                              |  -16
 * |                                                               |  -12
 * +---------------------------------------------------------------+
 * |  key, last word, never 0                                      |   -8   poll word
 * |                                                               |   -4
 * +---------------------------------------------------------------+
 *                                                                     0   end of the slot
 * </pre>
 *
 * <p>The published code has the length of the value first and a slot of one size; REMOVE is ours.
 */
final class HerdClearedRequestDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    static final int REMOVE = -1;
    static final int GET = 0;

    static final int KEY_LENGTH = 2 * Long.BYTES;
    static final int POLL_OFFSET = -Long.BYTES;
    static final int KEY_OFFSET = -KEY_LENGTH;
    static final int COMMAND_OFFSET = KEY_OFFSET - Long.BYTES;

    private HerdClearedRequestDescriptor() {}

    /** Bytes of a PUT; a REMOVE is one of an empty value. */
    static int putLength(int valueLength) {
        return (valueLength + Long.BYTES - 1 & -Long.BYTES) - COMMAND_OFFSET;
    }

    /** Bytes of the longest value whose slot has no more bytes than that. */
    static int longestValue(int packet) {
        return (packet & -HerdShape.LINE) + COMMAND_OFFSET;
    }

    static void put(MemorySegment memory, long end, int command, long first, long last) {
        memory.set(INT, end + COMMAND_OFFSET, command);
        memory.set(INT, end + COMMAND_OFFSET + Integer.BYTES, 0);
        memory.set(LONG, end + KEY_OFFSET, first);
        memory.set(LONG, end + POLL_OFFSET, last);
    }

    static long pollWord(MemorySegment memory, long end) {
        return (long) WORD.getAcquire(memory, end + POLL_OFFSET);
    }

    static int command(MemorySegment memory, long end) {
        return memory.get(INT, end + COMMAND_OFFSET);
    }

    static long first(MemorySegment memory, long end) {
        return memory.get(LONG, end + KEY_OFFSET);
    }

    /** The request is taken: the slot is empty. */
    static void clear(MemorySegment memory, long end) {
        memory.set(INT, end + COMMAND_OFFSET, GET);
        WORD.setRelease(memory, end + POLL_OFFSET, 0L);
    }
}
