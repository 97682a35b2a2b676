package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The first message of a client, a SEND, little endian. The client writes it.
 *
 * <pre>
 *  31                                                            0
 * +---------------------------------------------------------------+
 * |  magic                                                        |   0
 * +---------------------------------------------------------------+
 * |  version of these bytes: 1                                    |   4
 * +---------------------------------------------------------------+
 * |  the client, as it has named itself                           |   8
 * |                                                               |  12
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdHelloDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** "HRD1", the last byte first. */
    static final int MAGIC = 0x3144_5248;

    static final int VERSION = 1;

    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int CLIENT_OFFSET = VERSION_OFFSET + Integer.BYTES;

    /** Bytes of it. */
    public static final int LENGTH = CLIENT_OFFSET + Long.BYTES;

    private HerdHelloDescriptor() {}

    /** Writes it. */
    public static void put(MemorySegment memory, long at, long client) {
        memory.set(INT, at + MAGIC_OFFSET, MAGIC);
        memory.set(INT, at + VERSION_OFFSET, VERSION);
        memory.set(LONG, at + CLIENT_OFFSET, client);
    }

    /** The client. */
    public static long client(MemorySegment memory, long at) {
        return memory.get(LONG, at + CLIENT_OFFSET);
    }

    /** True if it is one. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available) {
        return available == LENGTH
                && memory.get(INT, at + MAGIC_OFFSET) == MAGIC
                && memory.get(INT, at + VERSION_OFFSET) == VERSION;
    }
}
