package org.softrdma.stores.hash;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * A checksum of 64 bits: the CRC-32 in the low half, the CRC-32C in the high half. The two generators have no common
 * divisor, so the pair is a CRC by their product, a polynomial of degree 64. The JVM computes each half by
 * instructions of the processor, which a table-driven CRC-64 is some thirty times slower than. Allocates nothing after
 * construction. Owned by one thread.
 */
public final class ChecksumPair {
    private final CRC32 crc32 = new CRC32();
    private final CRC32C crc32c = new CRC32C();

    /** A calculator. */
    public ChecksumPair() {}

    /**
     * The checksum of a range.
     *
     * @param memory a direct buffer; its position and limit are changed
     * @param offset where the range begins
     * @param length its bytes
     */
    public long of(ByteBuffer memory, int offset, int length) {
        return Integer.toUnsignedLong(one(crc32, memory, offset, length))
                | (long) one(crc32c, memory, offset, length) << Integer.SIZE;
    }

    private static int one(Checksum crc, ByteBuffer memory, int offset, int length) {
        crc.reset();
        memory.limit(offset + length).position(offset);
        crc.update(memory);
        return (int) crc.getValue();
    }
}
