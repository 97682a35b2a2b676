package org.softrdma.stores.nessie.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Messages between a worker and a node's application, by SEND, little endian. A worker has one request on its way.
 *
 * <pre>
 *  request                                        reply
 *  31                            0                31                            0
 * +-------------------------------+              +-------------------------------+
 * |  magic                        |   0          |  magic                        |   0
 * +-------------------------------+              +-------------------------------+
 * |  kind: 1 HELLO, 2 RESTOCK     |   4          |  kind                         |   4
 * +-------------------------------+              +-------------------------------+
 * |  RESTOCK: entries wanted      |   8          |  RESTOCK: entries given       |   8
 * +-------------------------------+              +-------------------------------+
 * |  0                            |  12          |  RESTOCK: entries in doubt    |  12
 * +-------------------------------+              +-------------------------------+
 *                                                |  HELLO: roots                 |  16
 *                                                |  RESTOCK: a reference, u32, of|
 *                                                |  each entry that was given,   |
 *                                                |  and of each one in doubt     |
 *                                                +-------------------------------+
 * </pre>
 *
 * <p>An entry is in doubt when its worker is gone: perhaps no word names it. The worker that gets the reply finds out.
 * Stateless.
 */
public final class NessieMessageDescriptor {
    /** Tell me where everything is. */
    public static final int HELLO = 1;

    /** Give me free entries. */
    public static final int RESTOCK = 2;

    /** Most entries that one reply gives. */
    public static final int MOST_GIVEN = 1024;

    /** Most entries in doubt that one reply names. */
    public static final int MOST_DOUBTFUL = 16;

    /** Bytes of a request, and of a reply without its body. */
    public static final int LENGTH = 16;

    /** Bytes of the longest reply. */
    public static final int REPLY_LENGTH = LENGTH + (MOST_GIVEN + MOST_DOUBTFUL) * Integer.BYTES;

    /** "NES1", the last byte first. */
    static final int MAGIC = 0x3153_454e;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAGIC_OFFSET = 0;
    private static final int KIND_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    private static final int COUNT_OFFSET = KIND_OFFSET + Integer.BYTES;
    private static final int DOUBTFUL_OFFSET = COUNT_OFFSET + Integer.BYTES;

    private NessieMessageDescriptor() {}

    /** Writes a request, or the beginning of a reply without entries in doubt. */
    public static void put(MemorySegment memory, long at, int kind, int count) {
        put(memory, at, kind, count, 0);
    }

    /** Writes the beginning of a reply. */
    public static void put(MemorySegment memory, long at, int kind, int count, int doubtful) {
        memory.set(INT, at + MAGIC_OFFSET, MAGIC);
        memory.set(INT, at + KIND_OFFSET, kind);
        memory.set(INT, at + COUNT_OFFSET, count);
        memory.set(INT, at + DOUBTFUL_OFFSET, doubtful);
    }

    /** Writes a reference into a reply. */
    public static void putReference(MemorySegment memory, long at, int index, int reference) {
        memory.set(INT, at + LENGTH + (long) index * Integer.BYTES, reference);
    }

    /** What is asked or answered. */
    public static int kind(MemorySegment memory, long at) {
        return memory.get(INT, at + KIND_OFFSET);
    }

    /** How many entries. */
    public static int count(MemorySegment memory, long at) {
        return memory.get(INT, at + COUNT_OFFSET);
    }

    /** How many entries are in doubt. */
    public static int doubtful(MemorySegment memory, long at) {
        return memory.get(INT, at + DOUBTFUL_OFFSET);
    }

    /** A reference in a reply. */
    public static int reference(MemorySegment memory, long at, int index) {
        return memory.get(INT, at + LENGTH + (long) index * Integer.BYTES);
    }

    /** True if it is a request. */
    public static boolean isRequest(MemorySegment memory, long at, long available) {
        return available == LENGTH
                && memory.get(INT, at + MAGIC_OFFSET) == MAGIC
                && (kind(memory, at) == HELLO || kind(memory, at) == RESTOCK)
                && count(memory, at) >= 0;
    }

    /** True if it is a reply of this kind. */
    public static boolean isReply(MemorySegment memory, long at, long available, int kind) {
        if (available < LENGTH || memory.get(INT, at + MAGIC_OFFSET) != MAGIC || kind(memory, at) != kind) {
            return false;
        }
        if (kind == HELLO) {
            return NessieRootsDescriptor.isValid(memory, at + LENGTH, available - LENGTH);
        }
        int count = count(memory, at);
        int doubtful = doubtful(memory, at);
        return count >= 0
                && doubtful >= 0
                && available == LENGTH + (long) count * Integer.BYTES + (long) doubtful * Integer.BYTES;
    }
}
