package org.softrdma.stores.nessie.layout;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.verbs.RemoteRegion;

/**
 * What a node tells in its reply to HELLO: the shape of the store, and its regions. Little endian. It holds for the
 * life of the node.
 *
 * <pre>
 *  31             24 23           16 15             8 7             0
 * +---------------+---------------+---------------+---------------+
 * |  filter bits  |  ways         |  log2 entries |  log2 words   |   0
 * +---------------+---------------+---------------+---------------+
 * |  node                         |  nodes                        |   4
 * +-------------------------------+-------------------------------+
 * |  bytes of the longest key                                     |   8
 * +---------------------------------------------------------------+
 * |  bytes of the longest value                                   |  12
 * +---------------------------------------------------------------+
 * |  flags: bit 0 SAFE, bit 1 READs move words whole              |  16
 * +---------------------------------------------------------------+
 * |  0                                                            |  20
 * +---------------------------------------------------------------+
 * |  rest of an entry before it is used again, in ns, 64 bits     |  24
 * |  life of the node, 64 bits                                    |  32
 * +---------------------------------------------------------------+
 * |  index table: address u64, bytes u64, rkey u32, 0 u32         |  40
 * |  data table: the same                                         |  64
 * |  notices: the same                                            |  88
 * +---------------------------------------------------------------+
 * </pre>
 *
 * <p>Stateless.
 */
public final class NessieRootsDescriptor {
    /** Bytes of it. */
    public static final int LENGTH = 112;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int BYTE_MASK = 0xff;
    private static final int SHORT_MASK = 0xffff;
    private static final int SAFE = 1;
    private static final int COHERENT = 2;
    private static final int LOGS_OFFSET = 0;
    private static final int NODES_OFFSET = LOGS_OFFSET + Integer.BYTES;
    private static final int KEY_LENGTH_OFFSET = NODES_OFFSET + Integer.BYTES;
    private static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    private static final int FLAGS_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    private static final int SPARE_OFFSET = FLAGS_OFFSET + Integer.BYTES;
    private static final int REUSE_OFFSET = SPARE_OFFSET + Integer.BYTES;
    private static final int BOOT_OFFSET = REUSE_OFFSET + Long.BYTES;
    private static final int INDEX_OFFSET = BOOT_OFFSET + Long.BYTES;
    private static final int REGION_LENGTH = 3 * Long.BYTES;
    private static final int DATA_OFFSET = INDEX_OFFSET + REGION_LENGTH;
    private static final int NOTICES_OFFSET = DATA_OFFSET + REGION_LENGTH;

    private NessieRootsDescriptor() {}

    /** Writes roots. */
    public static void put(MemorySegment memory, long at, NessieRoots roots) {
        NessieShape shape = roots.shape();
        memory.set(
                INT,
                at + LOGS_OFFSET,
                shape.logIndex()
                        | shape.logEntries() << Byte.SIZE
                        | shape.ways() << (2 * Byte.SIZE)
                        | shape.filterBits() << (3 * Byte.SIZE));
        memory.set(INT, at + NODES_OFFSET, (shape.nodes() & SHORT_MASK) | roots.node() << Short.SIZE);
        memory.set(INT, at + KEY_LENGTH_OFFSET, shape.maxKeyLength());
        memory.set(INT, at + VALUE_LENGTH_OFFSET, shape.maxValueLength());
        memory.set(INT, at + FLAGS_OFFSET, (shape.safe() ? SAFE : 0) | (roots.coherent() ? COHERENT : 0));
        memory.set(INT, at + SPARE_OFFSET, 0);
        memory.set(LONG, at + REUSE_OFFSET, shape.reuseNs());
        memory.set(LONG, at + BOOT_OFFSET, roots.boot());
        putRegion(memory, at + INDEX_OFFSET, roots.index());
        putRegion(memory, at + DATA_OFFSET, roots.data());
        putRegion(memory, at + NOTICES_OFFSET, roots.notices());
    }

    private static void putRegion(MemorySegment memory, long at, RemoteRegion region) {
        memory.set(LONG, at, region.address());
        memory.set(LONG, at + Long.BYTES, region.length());
        memory.set(LONG, at + 2 * Long.BYTES, Integer.toUnsignedLong(region.rkey()));
    }

    /** True if they are roots. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available) {
        return available == LENGTH && shape(memory, at).isValid();
    }

    private static NessieShape shape(MemorySegment memory, long at) {
        int logs = memory.get(INT, at + LOGS_OFFSET);
        return new NessieShape(
                memory.get(INT, at + NODES_OFFSET) & SHORT_MASK,
                logs & BYTE_MASK,
                (logs >>> Byte.SIZE) & BYTE_MASK,
                (logs >>> (2 * Byte.SIZE)) & BYTE_MASK,
                logs >>> (3 * Byte.SIZE),
                (memory.get(INT, at + FLAGS_OFFSET) & SAFE) != 0,
                memory.get(INT, at + KEY_LENGTH_OFFSET),
                memory.get(INT, at + VALUE_LENGTH_OFFSET),
                memory.get(LONG, at + REUSE_OFFSET));
    }

    /** Reads roots. */
    public static NessieRoots get(MemorySegment memory, long at) {
        return new NessieRoots(
                shape(memory, at),
                memory.get(INT, at + NODES_OFFSET) >>> Short.SIZE,
                memory.get(LONG, at + BOOT_OFFSET),
                (memory.get(INT, at + FLAGS_OFFSET) & COHERENT) != 0,
                region(memory, at + INDEX_OFFSET),
                region(memory, at + DATA_OFFSET),
                region(memory, at + NOTICES_OFFSET));
    }

    private static RemoteRegion region(MemorySegment memory, long at) {
        return new RemoteRegion(
                memory.get(LONG, at), memory.get(LONG, at + Long.BYTES), (int) memory.get(LONG, at + 2 * Long.BYTES));
    }
}
