package org.softrdma.sim.roce;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.verbs.RoutingHeader;

/**
 * Writes the header of IP that a datagram came with, as far as a socket and the ICRC tell: the hop limit is taken for 64,
 * class of service and flow label for 0. {@link RoutingHeader} has the drawing. Big endian.
 *
 * <pre>
 *   IPv4                                                 IPv6
 *   zero                                            0    version 6 | class | label                       0
 *   0x45 | service | total length                  20    payload length | next header 17 | hop limit     4
 *   identification | 0x4000: not to be fragmented  24    source                                          8
 *   time to live | protocol 17 | checksum          28    destination                                    24
 *   source                                         32
 *   destination                                    36
 * </pre>
 */
final class RoutingHeaderWriter {
    private static final int UDP_LENGTH = 8;
    private static final int UDP = 17;
    private static final int HOP_LIMIT = 64;
    private static final int IPV4_OFFSET = 20;
    private static final int IPV4_LENGTH = 20;
    private static final int VERSION_4_WITHOUT_OPTIONS = 0x45;
    private static final int NOT_TO_BE_FRAGMENTED = 0x4000;
    private static final int CHECKSUM_OFFSET = IPV4_OFFSET + 10;
    private static final int SOURCE_4_OFFSET = IPV4_OFFSET + 12;
    private static final int DESTINATION_4_OFFSET = SOURCE_4_OFFSET + Integer.BYTES;
    private static final int VERSION_6 = 6 << 28;
    private static final int SOURCE_6_OFFSET = 8;
    private static final int DESTINATION_6_OFFSET = SOURCE_6_OFFSET + Gid.LENGTH;
    private static final int SHORT_MASK = 0xFFFF;

    private final PacketMemory memory;

    /**
     * Has written none.
     *
     * @param operations give the memory
     */
    RoutingHeaderWriter(MemoryOperations operations) {
        memory = new PacketMemory(operations, RoutingHeader.LENGTH);
    }

    /**
     * Writes it.
     *
     * @param arrival the packet
     * @param length its bytes, from BTH to ICRC
     * @return where it is, until the next one
     */
    long write(Arrival arrival, int length) {
        long at = memory.address();
        PeerAddress from = arrival.from();
        Gid local = arrival.local();
        if (local.isIpv4()) {
            NativeMemory.clear(at, IPV4_OFFSET);
            NativeMemory.putShort(at + IPV4_OFFSET, VERSION_4_WITHOUT_OPTIONS << Byte.SIZE);
            NativeMemory.putShort(at + IPV4_OFFSET + 2, IPV4_LENGTH + UDP_LENGTH + length);
            NativeMemory.putShort(at + IPV4_OFFSET + 4, arrival.identification());
            NativeMemory.putShort(at + IPV4_OFFSET + 6, NOT_TO_BE_FRAGMENTED);
            NativeMemory.putShort(at + IPV4_OFFSET + 8, HOP_LIMIT << Byte.SIZE | UDP);
            NativeMemory.putShort(at + CHECKSUM_OFFSET, 0);
            NativeMemory.putInt(at + SOURCE_4_OFFSET, (int) from.low());
            NativeMemory.putInt(at + DESTINATION_4_OFFSET, (int) local.low());
            NativeMemory.putShort(at + CHECKSUM_OFFSET, checksum(at + IPV4_OFFSET));
        } else {
            NativeMemory.putInt(at, VERSION_6);
            NativeMemory.putShort(at + 4, UDP_LENGTH + length);
            NativeMemory.putShort(at + 6, UDP << Byte.SIZE | HOP_LIMIT);
            NativeMemory.putLong(at + SOURCE_6_OFFSET, from.high());
            NativeMemory.putLong(at + SOURCE_6_OFFSET + Long.BYTES, from.low());
            NativeMemory.putLong(at + DESTINATION_6_OFFSET, local.high());
            NativeMemory.putLong(at + DESTINATION_6_OFFSET + Long.BYTES, local.low());
        }
        return at;
    }

    /** The checksum of a header of IPv4 whose checksum is 0 (RFC 791, section 3.1). */
    private static int checksum(long header) {
        int sum = 0;
        for (int offset = 0; offset < IPV4_LENGTH; offset += Short.BYTES) {
            sum += NativeMemory.getShort(header + offset);
        }
        sum = (sum & SHORT_MASK) + (sum >>> Short.SIZE);
        return ~((sum & SHORT_MASK) + (sum >>> Short.SIZE)) & SHORT_MASK;
    }
}
