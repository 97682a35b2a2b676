package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.verbs.RemoteRegion;

/**
 * What a server answers to a client's first message: a SEND, little endian. The server writes it; it holds for the
 * connection.
 *
 * <pre>
 *  31                            16 15                            0
 * +---------------------------------------------------------------+
 * |  magic                                                        |   0
 * +-------------------------------+-------------------------------+
 * |  workers                      |  flags                        |   4   1 requests have numbers, 2 answers are WRITEs
 * +-------------------------------+-------------------------------+
 * |  slots of each worker                                         |   8
 * +---------------------------------------------------------------+
 * |  bytes of a slot                                              |  12
 * +---------------------------------------------------------------+
 * |  bytes of the longest key                                     |  16
 * +---------------------------------------------------------------+
 * |  bytes of the longest value                                   |  20
 * +---------------------------------------------------------------+
 * |  rkey of the slots                                            |  24
 * +---------------------------------------------------------------+
 * |  session: what the server remembers of this client            |  28
 * +---------------------------------------------------------------+
 * |  life of the server, 64 bits                                  |  32
 * |  seed of the hash of keys, 64 bits                            |  40
 * |  address of the slots, 64 bits                                |  48
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdWelcomeDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int NUMBERED = 1;
    private static final int WRITTEN = 2;
    private static final int FLAGS_MASK = 0xffff;
    private static final int LINE = 64;

    static final int MAGIC_OFFSET = 0;
    static final int FLAGS_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int WINDOW_OFFSET = FLAGS_OFFSET + Integer.BYTES;
    static final int SLOT_LENGTH_OFFSET = WINDOW_OFFSET + Integer.BYTES;
    static final int KEY_LENGTH_OFFSET = SLOT_LENGTH_OFFSET + Integer.BYTES;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    static final int KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int SESSION_OFFSET = KEY_OFFSET + Integer.BYTES;
    static final int BOOT_OFFSET = SESSION_OFFSET + Integer.BYTES;
    static final int SEED_OFFSET = BOOT_OFFSET + Long.BYTES;
    static final int ADDRESS_OFFSET = SEED_OFFSET + Long.BYTES;

    /** Bytes of it. */
    public static final int LENGTH = ADDRESS_OFFSET + Long.BYTES;

    private HerdWelcomeDescriptor() {}

    /** Writes it. */
    public static void put(MemorySegment memory, long at, HerdWelcome welcome) {
        HerdShape shape = welcome.shape();
        int flags = (welcome.numbered() ? NUMBERED : 0) | (welcome.written() ? WRITTEN : 0);
        memory.set(INT, at + MAGIC_OFFSET, HerdHelloDescriptor.MAGIC);
        memory.set(INT, at + FLAGS_OFFSET, flags | shape.workers() << Short.SIZE);
        memory.set(INT, at + WINDOW_OFFSET, shape.window());
        memory.set(INT, at + SLOT_LENGTH_OFFSET, shape.slotLength());
        memory.set(INT, at + KEY_LENGTH_OFFSET, welcome.maxKeyLength());
        memory.set(INT, at + VALUE_LENGTH_OFFSET, welcome.maxValueLength());
        memory.set(INT, at + KEY_OFFSET, welcome.slots().rkey());
        memory.set(INT, at + SESSION_OFFSET, welcome.session());
        memory.set(LONG, at + BOOT_OFFSET, welcome.boot());
        memory.set(LONG, at + SEED_OFFSET, welcome.seed());
        memory.set(LONG, at + ADDRESS_OFFSET, welcome.slots().address());
    }

    /** True if it is one. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available) {
        if (available != LENGTH || memory.get(INT, at + MAGIC_OFFSET) != HerdHelloDescriptor.MAGIC) {
            return false;
        }
        int workers = memory.get(INT, at + FLAGS_OFFSET) >>> Short.SIZE;
        int window = memory.get(INT, at + WINDOW_OFFSET);
        int slotLength = memory.get(INT, at + SLOT_LENGTH_OFFSET);
        return (memory.get(INT, at + FLAGS_OFFSET) & FLAGS_MASK & ~(NUMBERED | WRITTEN)) == 0
                && workers > 0
                && workers <= HerdShape.MOST_WORKERS
                && window > 0
                && slotLength > 0
                && slotLength % LINE == 0
                && window <= Integer.MAX_VALUE / slotLength / workers
                && memory.get(INT, at + KEY_LENGTH_OFFSET) > 0
                && memory.get(INT, at + VALUE_LENGTH_OFFSET) >= 0;
    }

    /** Reads it. */
    public static HerdWelcome get(MemorySegment memory, long at) {
        int flags = memory.get(INT, at + FLAGS_OFFSET);
        HerdShape shape = new HerdShape(
                flags >>> Short.SIZE, memory.get(INT, at + WINDOW_OFFSET), memory.get(INT, at + SLOT_LENGTH_OFFSET));
        return new HerdWelcome(
                shape,
                (flags & NUMBERED) != 0,
                (flags & WRITTEN) != 0,
                memory.get(INT, at + KEY_LENGTH_OFFSET),
                memory.get(INT, at + VALUE_LENGTH_OFFSET),
                memory.get(INT, at + SESSION_OFFSET),
                memory.get(LONG, at + BOOT_OFFSET),
                memory.get(LONG, at + SEED_OFFSET),
                new RemoteRegion(
                        memory.get(LONG, at + ADDRESS_OFFSET), shape.length(), memory.get(INT, at + KEY_OFFSET)));
    }
}
