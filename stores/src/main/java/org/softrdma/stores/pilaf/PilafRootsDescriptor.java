package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.verbs.RemoteRegion;

/**
 * What a server tells in its reply to HELLO: the regions where a client begins to read, and how. Little endian. The
 * server writes it; it holds for the connection, because the server ends all connections before it changes any of it.
 *
 * <pre>
 *  31                            16 15             8 7             0
 * +---------------------------------------------------------------+
 * |  magic                                                        |   0
 * +-------------------------------+---------------+---------------+
 * |  requests on their way        |  flags        |  log2 entries |   4   flags: bit 0 fingerprints are on
 * +-------------------------------+---------------+---------------+
 * |  epoch: one more at each reset of the regions                 |   8
 * +---------------------------------------------------------------+
 * |  bytes of the longest key                                     |  12
 * +---------------------------------------------------------------+
 * |  bytes of the longest value                                   |  16
 * +---------------------------------------------------------------+
 * |  rkey of the entries                                          |  20
 * +---------------------------------------------------------------+
 * |  rkey of the extents                                          |  24
 * +---------------------------------------------------------------+
 * |  session: what the server remembers of this client            |  28
 * +---------------------------------------------------------------+
 * |  life of the server, 64 bits                                  |  32
 * |  address of the entries, 64 bits                              |  40
 * |  address of the extents, 64 bits                              |  48
 * |  bytes of the extents, 64 bits                                |  56
 * |  seed of the hash, then of each further candidate: 3 x 64 bits|  64
 * +---------------------------------------------------------------+
 * </pre>
 */
final class PilafRootsDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int LOG_MASK = 0xff;
    private static final int FINGERPRINTS = 1 << Byte.SIZE;

    static final int MAGIC_OFFSET = 0;
    static final int SIZES_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int EPOCH_OFFSET = SIZES_OFFSET + Integer.BYTES;
    static final int KEY_LENGTH_OFFSET = EPOCH_OFFSET + Integer.BYTES;
    static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    static final int ENTRIES_KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    static final int EXTENTS_KEY_OFFSET = ENTRIES_KEY_OFFSET + Integer.BYTES;
    static final int SESSION_OFFSET = EXTENTS_KEY_OFFSET + Integer.BYTES;
    static final int BOOT_OFFSET = SESSION_OFFSET + Integer.BYTES;
    static final int ENTRIES_ADDRESS_OFFSET = BOOT_OFFSET + Long.BYTES;
    static final int EXTENTS_ADDRESS_OFFSET = ENTRIES_ADDRESS_OFFSET + Long.BYTES;
    static final int EXTENTS_LENGTH_OFFSET = EXTENTS_ADDRESS_OFFSET + Long.BYTES;
    static final int SEEDS_OFFSET = EXTENTS_LENGTH_OFFSET + Long.BYTES;
    static final int LENGTH = SEEDS_OFFSET + PilafHash.WAYS * Long.BYTES;

    private PilafRootsDescriptor() {}

    static void put(MemorySegment memory, long at, PilafRoots roots) {
        PilafHash hash = roots.hash();
        memory.set(INT, at + MAGIC_OFFSET, PilafRequestDescriptor.MAGIC);
        memory.set(
                INT,
                at + SIZES_OFFSET,
                hash.logEntries() | (roots.fingerprints() ? FINGERPRINTS : 0) | roots.window() << Short.SIZE);
        memory.set(INT, at + EPOCH_OFFSET, roots.epoch());
        memory.set(INT, at + KEY_LENGTH_OFFSET, roots.maxKeyLength());
        memory.set(INT, at + VALUE_LENGTH_OFFSET, roots.maxValueLength());
        memory.set(INT, at + ENTRIES_KEY_OFFSET, roots.entries().rkey());
        memory.set(INT, at + EXTENTS_KEY_OFFSET, roots.extents().rkey());
        memory.set(INT, at + SESSION_OFFSET, roots.session());
        memory.set(LONG, at + BOOT_OFFSET, roots.boot());
        memory.set(LONG, at + ENTRIES_ADDRESS_OFFSET, roots.entries().address());
        memory.set(LONG, at + EXTENTS_ADDRESS_OFFSET, roots.extents().address());
        memory.set(LONG, at + EXTENTS_LENGTH_OFFSET, roots.extents().length());
        for (int i = 0; i < PilafHash.WAYS; i++) {
            memory.set(LONG, at + SEEDS_OFFSET + (long) i * Long.BYTES, hash.seed(i));
        }
    }

    /** True if they are roots. Call it before anything else is believed. */
    static boolean isValid(MemorySegment memory, long at, long available) {
        if (available != LENGTH || memory.get(INT, at + MAGIC_OFFSET) != PilafRequestDescriptor.MAGIC) {
            return false;
        }
        int sizes = memory.get(INT, at + SIZES_OFFSET);
        return (sizes & LOG_MASK) <= PilafHash.MOST_LOG_ENTRIES
                && sizes >>> Short.SIZE > 0
                && memory.get(INT, at + KEY_LENGTH_OFFSET) > 0
                && memory.get(INT, at + VALUE_LENGTH_OFFSET) >= 0
                && memory.get(LONG, at + EXTENTS_LENGTH_OFFSET) > 0;
    }

    static PilafRoots get(MemorySegment memory, long at) {
        int sizes = memory.get(INT, at + SIZES_OFFSET);
        int logEntries = sizes & LOG_MASK;
        long[] seeds = new long[PilafHash.WAYS];
        for (int i = 0; i < seeds.length; i++) {
            seeds[i] = memory.get(LONG, at + SEEDS_OFFSET + (long) i * Long.BYTES);
        }
        return new PilafRoots(
                new PilafHash(logEntries, seeds),
                (sizes & FINGERPRINTS) != 0,
                sizes >>> Short.SIZE,
                memory.get(INT, at + KEY_LENGTH_OFFSET),
                memory.get(INT, at + VALUE_LENGTH_OFFSET),
                memory.get(INT, at + SESSION_OFFSET),
                memory.get(LONG, at + BOOT_OFFSET),
                memory.get(INT, at + EPOCH_OFFSET),
                new RemoteRegion(
                        memory.get(LONG, at + ENTRIES_ADDRESS_OFFSET),
                        (long) PilafEntryDescriptor.LENGTH << logEntries,
                        memory.get(INT, at + ENTRIES_KEY_OFFSET)),
                new RemoteRegion(
                        memory.get(LONG, at + EXTENTS_ADDRESS_OFFSET),
                        memory.get(LONG, at + EXTENTS_LENGTH_OFFSET),
                        memory.get(INT, at + EXTENTS_KEY_OFFSET)));
    }
}
