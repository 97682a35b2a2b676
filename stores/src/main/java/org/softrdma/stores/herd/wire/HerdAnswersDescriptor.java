package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.verbs.RemoteRegion;

/**
 * The second message of a client whose answers are WRITEs: where they go, one answer slot for each slot. A SEND, little
 * endian. The client writes it; it holds for the connection.
 *
 * <pre>
 *  31                                                            0
 * +---------------------------------------------------------------+
 * |  magic                                                        |   0
 * +---------------------------------------------------------------+
 * |  rkey of the answer slots                                     |   4
 * +---------------------------------------------------------------+
 * |  address of the answer slots, 64 bits                         |   8
 * |  bytes of all of them, 64 bits                                |  16
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdAnswersDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** "HRDA", the last byte first. */
    static final int MAGIC = 0x4144_5248;

    static final int MAGIC_OFFSET = 0;
    static final int KEY_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int ADDRESS_OFFSET = KEY_OFFSET + Integer.BYTES;
    static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;

    /** Bytes of it. */
    public static final int LENGTH = LENGTH_OFFSET + Long.BYTES;

    private HerdAnswersDescriptor() {}

    /** Writes it. */
    public static void put(MemorySegment memory, long at, RemoteRegion answers) {
        memory.set(INT, at + MAGIC_OFFSET, MAGIC);
        memory.set(INT, at + KEY_OFFSET, answers.rkey());
        memory.set(LONG, at + ADDRESS_OFFSET, answers.address());
        memory.set(LONG, at + LENGTH_OFFSET, answers.length());
    }

    /**
     * True if it is one. Call it before anything else is believed.
     *
     * @param answers bytes that all answer slots have together
     */
    public static boolean isValid(MemorySegment memory, long at, long available, long answers) {
        return available == LENGTH
                && memory.get(INT, at + MAGIC_OFFSET) == MAGIC
                && memory.get(LONG, at + LENGTH_OFFSET) == answers;
    }

    /** Where answers go. */
    public static RemoteRegion get(MemorySegment memory, long at) {
        return new RemoteRegion(
                memory.get(LONG, at + ADDRESS_OFFSET),
                memory.get(LONG, at + LENGTH_OFFSET),
                memory.get(INT, at + KEY_OFFSET));
    }
}
