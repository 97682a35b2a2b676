package org.softrdma.bench.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.verbs.RemoteRegion;

/**
 * The one message of rping ({@code struct rping_rdma_info}): a buffer that the peer is to READ or WRITE. Big endian. The
 * client fills in each field; what a server sends has this length and means "go ahead", its content is not looked at.
 *
 * <pre>
 *  31                                                           0
 * +---------------------------------------------------------------+
 * |  address, high half                                           |   0
 * +---------------------------------------------------------------+
 * |  address, low half                                            |   4
 * +---------------------------------------------------------------+
 * |  rkey                                                         |   8
 * +---------------------------------------------------------------+
 * |  length in bytes                                              |  12
 * +---------------------------------------------------------------+
 * </pre>
 */
final class Advertisement {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long ADDRESS_OFFSET = 0;
    private static final long RKEY_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    private static final long LENGTH_OFFSET = RKEY_OFFSET + Integer.BYTES;

    /** Bytes of the message. */
    static final long BYTES = LENGTH_OFFSET + Integer.BYTES;

    private Advertisement() {}

    /**
     * Writes one.
     *
     * @param message at least {@link #BYTES} long
     * @param region the buffer, shorter than 4 GiB
     */
    static void write(MemorySegment message, RemoteRegion region) {
        message.set(LONG, ADDRESS_OFFSET, region.address());
        message.set(INT, RKEY_OFFSET, region.rkey());
        message.set(INT, LENGTH_OFFSET, Math.toIntExact(region.length()));
    }

    /**
     * Reads one.
     *
     * @param message at least {@link #BYTES} long
     * @return the buffer, with a length from 0 to 2^32 - 1
     */
    static RemoteRegion read(MemorySegment message) {
        return new RemoteRegion(
                message.get(LONG, ADDRESS_OFFSET),
                Integer.toUnsignedLong(message.get(INT, LENGTH_OFFSET)),
                message.get(INT, RKEY_OFFSET));
    }
}
