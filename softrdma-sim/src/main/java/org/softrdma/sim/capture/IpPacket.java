package org.softrdma.sim.capture;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The IP header before captured bytes (RFC 791, RFC 8200): complete, with correct lengths and checksums. Big endian. IPv4
 * between two IPv4 addresses, else IPv6.
 *
 * <pre>
 *   IPv4                                              IPv6
 *   +-------+-------+---------------+                 +----+-------+------------------+
 *   | 0x45  | service|total length  |   0             | 6  |service| 0, flow label    |   0
 *   +-------+-------+---------------+                 +----+-------+--+-------+-------+
 *   | identification| 0x4000, DF    |   4             | length behind | next  |  64   |   4
 *   +-------+-------+---------------+                 +---------------+-------+-------+
 *   |  64   | next  | checksum      |   8             |  source, 16 bytes             |   8
 *   +-------+-------+---------------+                 |  destination, 16 bytes        |  24
 *   |  source                       |  12
 *   |  destination                  |  16
 *
 *   next: 6 TCP, 17 UDP
 * </pre>
 */
final class IpPacket {
    static final byte TCP = 6;
    static final byte UDP = 17;

    static final int IPV4_HEADER_LENGTH = 20;
    static final int IPV6_HEADER_LENGTH = 40;

    private static final int IPV4_VERSION = 0x4500;
    private static final int IPV4_LENGTH_OFFSET = 2;
    private static final int IPV4_DO_NOT_FRAGMENT = 0x4000;
    private static final int IPV4_PROTOCOL_OFFSET = 9;
    private static final int IPV4_CHECKSUM_OFFSET = 10;
    private static final int IPV4_ADDRESSES_OFFSET = 12;
    private static final int IPV6_VERSION = 0x60000000;
    private static final int IPV6_CLASS_SHIFT = 20;
    private static final int IPV6_LENGTH_OFFSET = 4;
    private static final int IPV6_NEXT_OFFSET = 6;
    private static final int IPV6_ADDRESSES_OFFSET = 8;
    private static final int IPV6_ADDRESS_LENGTH = 16;
    private static final int MAPPED_PREFIX_LENGTH = 10;
    private static final byte TIME_TO_LIVE = 64;
    private static final int VERSION_SHIFT = 12;
    private static final int IPV4 = 4;
    private static final int MASK_16 = 0xFFFF;

    private IpPacket() {}

    /**
     * Writes the header with length and checksum still 0; the rest follows, then {@link #finish}.
     *
     * @param out big endian, appended to
     * @param source the sender's address
     * @param destination the receiver's address
     * @param next {@link #TCP} or {@link #UDP}
     * @param typeOfService of IPv4, or traffic class
     * @param identification of IPv4
     */
    static void begin(
            ByteBuffer out,
            InetAddress source,
            InetAddress destination,
            byte next,
            int typeOfService,
            int identification) {
        if (source instanceof Inet4Address && destination instanceof Inet4Address) {
            out.putShort((short) (IPV4_VERSION | typeOfService)).putShort((short) 0);
            out.putShort((short) identification).putShort((short) IPV4_DO_NOT_FRAGMENT);
            out.put(TIME_TO_LIVE).put(next).putShort((short) 0);
            out.put(source.getAddress()).put(destination.getAddress());
        } else {
            out.putInt(IPV6_VERSION | typeOfService << IPV6_CLASS_SHIFT).putShort((short) 0);
            out.put(next).put(TIME_TO_LIVE);
            out.put(sixteenBytes(source)).put(sixteenBytes(destination));
        }
    }

    /** An address as in an IPv6 header; an IPv4 address is mapped (RFC 4291 section 2.5.5.2). */
    private static byte[] sixteenBytes(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == IPV6_ADDRESS_LENGTH) {
            return bytes;
        }
        byte[] mapped = new byte[IPV6_ADDRESS_LENGTH];
        Arrays.fill(mapped, MAPPED_PREFIX_LENGTH, IPV6_ADDRESS_LENGTH - bytes.length, (byte) 0xFF);
        System.arraycopy(bytes, 0, mapped, IPV6_ADDRESS_LENGTH - bytes.length, bytes.length);
        return mapped;
    }

    /**
     * Fills in length and checksum of the header, and the checksum of what follows.
     *
     * @param out its position is the end of the packet
     * @param start where the packet begins
     * @param checksumOffset where TCP's or UDP's checksum is, behind the IP header; it is still 0
     */
    static void finish(ByteBuffer out, int start, int checksumOffset) {
        boolean ipv4 = (out.getShort(start) & MASK_16) >>> VERSION_SHIFT == IPV4;
        int body = start + (ipv4 ? IPV4_HEADER_LENGTH : IPV6_HEADER_LENGTH);
        int bodyLength = out.position() - body;
        int addresses;
        byte next;
        if (ipv4) {
            out.putShort(start + IPV4_LENGTH_OFFSET, (short) (out.position() - start));
            out.putShort(start + IPV4_CHECKSUM_OFFSET, (short) ~fold(sum(out, start, body)));
            addresses = start + IPV4_ADDRESSES_OFFSET;
            next = out.get(start + IPV4_PROTOCOL_OFFSET);
        } else {
            out.putShort(start + IPV6_LENGTH_OFFSET, (short) bodyLength);
            addresses = start + IPV6_ADDRESSES_OFFSET;
            next = out.get(start + IPV6_NEXT_OFFSET);
        }
        // The pseudo header: addresses, protocol, length; its other fields are 0.
        int checksum = ~fold(sum(out, addresses, body) + next + bodyLength + sum(out, body, out.position())) & MASK_16;
        // In UDP 0 means that there is none, and its other form, all ones, is written instead (RFC 768).
        out.putShort(body + checksumOffset, (short) (next == UDP && checksum == 0 ? MASK_16 : checksum));
    }

    /** The ones' complement sum before it is folded (RFC 1071). */
    private static long sum(ByteBuffer bytes, int from, int to) {
        long sum = 0;
        int at = from;
        for (; at + 1 < to; at += Short.BYTES) {
            sum += bytes.getShort(at) & MASK_16;
        }
        return at < to ? sum + ((bytes.get(at) & 0xFF) << Byte.SIZE) : sum;
    }

    private static int fold(long sum) {
        long folded = sum;
        while (folded > MASK_16) {
            folded = (folded & MASK_16) + (folded >>> Short.SIZE);
        }
        return (int) folded;
    }
}
