package org.softrdma.sim.capture;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The IP and TCP headers before captured bytes (RFC 791, RFC 8200, RFC 9293): complete, with correct lengths and
 * checksums. Big endian. IPv4 between two IPv4 addresses, else IPv6.
 *
 * <pre>
 *   IPv4                                              IPv6
 *   +---------------+---------------+                 +-------------------------------+
 *   |  0x4500       | total length  |   0             |  0x60000000                   |   0
 *   +---------------+---------------+                 +---------------+-------+-------+
 *   |  0            | 0x4000, DF    |   4             | length behind | 6 TCP |  64   |   4
 *   +-------+-------+---------------+                 +---------------+-------+-------+
 *   |  64   | 6 TCP | checksum      |   8             |  source, 16 bytes             |   8
 *   +-------+-------+---------------+                 |  destination, 16 bytes        |  24
 *   |  source                       |  12
 *   |  destination                  |  16
 *
 *   TCP
 *   +---------------+---------------+
 *   | source port   | destination   |   0
 *   +---------------+---------------+
 *   |  sequence number              |   4
 *   +-------------------------------+
 *   |  acknowledgement number       |   8
 *   +---------------+---------------+
 *   | 5 or 6, flags |  window       |  12
 *   +---------------+---------------+
 *   |  checksum     |  0            |  16
 *   +---------------+---------------+
 *   |  0x0103030E: window scale 14  |  20   with SYN only
 *   +-------------------------------+
 *   |  payload                      |
 * </pre>
 */
final class TcpPacket {
    static final int FIN = 0x01;
    static final int SYN = 0x02;
    static final int RST = 0x04;
    static final int PSH = 0x08;
    static final int ACK = 0x10;

    static final int IPV4_HEADER_LENGTH = 20;
    static final int IPV6_HEADER_LENGTH = 40;

    private static final int SYN_OPTIONS = 0x0103030E;
    private static final int TCP_HEADER_LENGTH = 20;
    /** Longest payload of a packet, by the length field of IPv4. */
    static final int MAX_PAYLOAD = 0xFFFF - IPV4_HEADER_LENGTH - TCP_HEADER_LENGTH;

    private static final int IPV4_VERSION = 0x4500;
    private static final int IPV4_LENGTH_OFFSET = 2;
    private static final int IPV4_DO_NOT_FRAGMENT = 0x4000;
    private static final int IPV4_CHECKSUM_OFFSET = 10;
    private static final int IPV4_ADDRESSES_OFFSET = 12;
    private static final int IPV6_VERSION = 0x60000000;
    private static final int IPV6_LENGTH_OFFSET = 4;
    private static final int IPV6_ADDRESSES_OFFSET = 8;
    private static final int IPV6_ADDRESS_LENGTH = 16;
    private static final int MAPPED_PREFIX_LENGTH = 10;
    private static final byte TIME_TO_LIVE = 64;
    private static final byte PROTOCOL_TCP = 6;
    private static final int TCP_LENGTH_SHIFT = 12;
    private static final int TCP_CHECKSUM_OFFSET = 16;
    private static final int WINDOW = 0xFFFF;
    private static final int MASK_16 = 0xFFFF;

    private TcpPacket() {}

    /**
     * Writes the headers with lengths and checksums still 0; the payload follows, then {@link #finish}.
     *
     * @param out big endian, appended to
     * @param from the sender
     * @param to the receiver
     * @param sequence sequence number of the first byte
     * @param acknowledgement the sequence number the sender expects next; 0 without ACK
     * @param flags {@link #FIN}, {@link #SYN}, {@link #RST}, {@link #PSH}, {@link #ACK}
     */
    static void begin(
            ByteBuffer out,
            InetSocketAddress from,
            InetSocketAddress to,
            int sequence,
            int acknowledgement,
            int flags) {
        InetAddress source = from.getAddress();
        InetAddress destination = to.getAddress();
        if (source instanceof Inet4Address && destination instanceof Inet4Address) {
            out.putShort((short) IPV4_VERSION).putShort((short) 0);
            out.putShort((short) 0).putShort((short) IPV4_DO_NOT_FRAGMENT);
            out.put(TIME_TO_LIVE).put(PROTOCOL_TCP).putShort((short) 0);
            out.put(source.getAddress()).put(destination.getAddress());
        } else {
            out.putInt(IPV6_VERSION).putShort((short) 0);
            out.put(PROTOCOL_TCP).put(TIME_TO_LIVE);
            out.put(sixteenBytes(source)).put(sixteenBytes(destination));
        }
        boolean options = (flags & SYN) != 0;
        int header = TCP_HEADER_LENGTH + (options ? Integer.BYTES : 0);
        out.putShort((short) from.getPort()).putShort((short) to.getPort());
        out.putInt(sequence).putInt(acknowledgement);
        out.putShort((short) (((header / Integer.BYTES) << TCP_LENGTH_SHIFT) | flags))
                .putShort((short) WINDOW);
        out.putInt(0);
        if (options) {
            out.putInt(SYN_OPTIONS);
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
     * Fills in lengths and checksums.
     *
     * @param out its position is the end of the packet
     * @param start where the packet begins
     */
    static void finish(ByteBuffer out, int start) {
        boolean ipv4 = (out.getShort(start) & MASK_16) == IPV4_VERSION;
        int tcp = start + (ipv4 ? IPV4_HEADER_LENGTH : IPV6_HEADER_LENGTH);
        int tcpLength = out.position() - tcp;
        int addresses;
        if (ipv4) {
            out.putShort(start + IPV4_LENGTH_OFFSET, (short) (out.position() - start));
            out.putShort(start + IPV4_CHECKSUM_OFFSET, (short) ~fold(sum(out, start, tcp)));
            addresses = start + IPV4_ADDRESSES_OFFSET;
        } else {
            out.putShort(start + IPV6_LENGTH_OFFSET, (short) tcpLength);
            addresses = start + IPV6_ADDRESSES_OFFSET;
        }
        // The pseudo header: addresses, protocol, length; its other fields are 0.
        long sum = sum(out, addresses, tcp) + PROTOCOL_TCP + tcpLength + sum(out, tcp, out.position());
        out.putShort(tcp + TCP_CHECKSUM_OFFSET, (short) ~fold(sum));
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
