package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.stores.hash.ChecksumPair;

/**
 * An entry of the table: where a pair is, with a checksum of the pair and one of the entry itself, so that a reader can
 * tell that it has seen neither half written. 32 bytes, 32-byte aligned, little endian. The server writes it word by
 * word, in any order; clients READ it.
 *
 * <pre>
 *  31                            16 15                          1 0
 * +-------------------------------+-----------------------------+-+
 * |  fingerprint of the key       |  version                    |U|   0   U: in use. Version: one more at every write
 * +-------------------------------+-----------------------------+-+
 * |  length of the extent, in bytes                               |   4
 * +---------------------------------------------------------------+
 * |  offset of the extent in the region of extents                |   8
 * |                                                               |  12
 * +---------------------------------------------------------------+
 * |  checksum of the extent: CRC-32                               |  16
 * |  CRC-32C                                                      |  20
 * +---------------------------------------------------------------+
 * |  checksum of bytes 0 to 23: CRC-32                            |  24
 * |  CRC-32C                                                      |  28
 * +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The paper gives the fields (section 3.3) but not their bytes. Version and fingerprint are ours: the version lets a
 * reader tell that an entry was not written between two looks, unless it was written a multiple of 32768 times; the
 * fingerprint is 0 unless the server has it on. An entry that is not in use has 0 in all but version and checksum.
 */
final class PilafEntryDescriptor {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int IN_USE = 1;
    private static final int VERSION_MASK = 0xfffe;
    private static final int FINGERPRINT_MASK = 0xffff_0000;

    static final int HEADER_OFFSET = 0;
    static final int EXTENT_OFFSET_OFFSET = HEADER_OFFSET + Long.BYTES;
    static final int EXTENT_CHECKSUM_OFFSET = EXTENT_OFFSET_OFFSET + Long.BYTES;
    static final int CHECKSUM_OFFSET = EXTENT_CHECKSUM_OFFSET + Long.BYTES;
    static final int LENGTH = CHECKSUM_OFFSET + Long.BYTES;

    private PilafEntryDescriptor() {}

    /**
     * The first word.
     *
     * @param inUse true if there is a pair
     * @param version its low 15 bits count
     * @param fingerprint of the key, 16 bits
     * @param extentLength bytes
     */
    static long header(boolean inUse, int version, int fingerprint, int extentLength) {
        int flags = (inUse ? IN_USE : 0)
                | ((version << Integer.numberOfTrailingZeros(VERSION_MASK)) & VERSION_MASK)
                | fingerprint << Integer.numberOfTrailingZeros(FINGERPRINT_MASK);
        return Integer.toUnsignedLong(flags) | (long) extentLength << Integer.SIZE;
    }

    static long header(MemorySegment memory, long entry) {
        return memory.get(WORD, entry + HEADER_OFFSET);
    }

    static boolean isInUse(long header) {
        return (header & IN_USE) != 0;
    }

    static int version(long header) {
        return ((int) header & VERSION_MASK) >>> Integer.numberOfTrailingZeros(VERSION_MASK);
    }

    static int fingerprint(long header) {
        return ((int) header & FINGERPRINT_MASK) >>> Integer.numberOfTrailingZeros(FINGERPRINT_MASK);
    }

    static int extentLength(long header) {
        return (int) (header >>> Integer.SIZE);
    }

    static long extentOffset(MemorySegment memory, long entry) {
        return memory.get(WORD, entry + EXTENT_OFFSET_OFFSET);
    }

    static long extentChecksum(MemorySegment memory, long entry) {
        return memory.get(WORD, entry + EXTENT_CHECKSUM_OFFSET);
    }

    static long checksum(MemorySegment memory, long entry) {
        return memory.get(WORD, entry + CHECKSUM_OFFSET);
    }

    /** Writes an entry with its checksum where nobody else looks. */
    static void put(
            MemorySegment memory,
            ByteBuffer view,
            int entry,
            long header,
            long extentOffset,
            long extentChecksum,
            ChecksumPair checksum) {
        memory.set(WORD, entry + HEADER_OFFSET, header);
        memory.set(WORD, entry + EXTENT_OFFSET_OFFSET, extentOffset);
        memory.set(WORD, entry + EXTENT_CHECKSUM_OFFSET, extentChecksum);
        memory.set(WORD, entry + CHECKSUM_OFFSET, checksum.of(view, entry, CHECKSUM_OFFSET));
    }

    /** True if the entry is what somebody has written as a whole. Call it before anything else is believed. */
    static boolean isWhole(MemorySegment memory, ByteBuffer view, int entry, ChecksumPair checksum) {
        return checksum(memory, entry) == checksum.of(view, entry, CHECKSUM_OFFSET);
    }
}
