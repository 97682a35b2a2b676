package org.softrdma.sim.roce.wire;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What the ICRC covers before the BTH: eight bytes of ones in the place of the LRH, the IP header and the UDP header,
 * with ones wherever routers or kernels may write (annexes A16 and A17). One for each pair of addresses and ports; its
 * owner's thread.
 *
 * <pre>
 *   IPv4                                               IPv6
 *   0xFF x 8                                      0    0xFF x 8                                       0
 *   0x45 | TOS: 0xFF | total length               8    0x6F | class and flow label: 0xFF x 3          8
 *   identification | flags and offset: 0x4000    12    payload length | 17 | hop limit: 0xFF         12
 *   TTL: 0xFF | 17 | checksum: 0xFFFF            16    source address, 16 bytes                      16
 *   source address, destination address          20    destination address, 16 bytes                 32
 *   UDP: source port, destination port           28    UDP: source port, destination port            48
 *   UDP: length | checksum: 0xFFFF               32    UDP: length | checksum: 0xFFFF                52
 * </pre>
 *
 * <p>An IPv4 header has no options, is not fragmented and must not be: a sender sets "don't fragment". Its
 * identification is covered, although a receiver cannot see it through a socket: see {@link Icrc#identification}.
 *
 * <p>It remembers what it adds to the ICRC of packets of some lengths.
 */
public final class PseudoHeader {
    private static final int IPV4_ADDRESS_LENGTH = 4;
    private static final int IPV6_ADDRESS_LENGTH = 16;
    private static final int MASKED_LRH_LENGTH = 8;
    private static final int IPV4_LENGTH = 20;
    private static final int IPV6_LENGTH = 40;
    private static final int UDP_LENGTH = 8;

    private static final int IPV4_SOURCE_OFFSET = MASKED_LRH_LENGTH + 12;
    private static final int IPV6_SOURCE_OFFSET = MASKED_LRH_LENGTH + 8;
    private static final int IPV4_TOTAL_LENGTH_OFFSET = MASKED_LRH_LENGTH + 2;
    private static final int IPV4_IDENTIFICATION_OFFSET = MASKED_LRH_LENGTH + 4;
    private static final int IPV6_PAYLOAD_LENGTH_OFFSET = MASKED_LRH_LENGTH + 4;

    /** What it adds is not known: {@link Icrc} computes it. A part that is that by chance is computed each time. */
    static final int UNKNOWN = 0;

    /** Lengths of packets that are remembered. The packets of an answer to a READ have three. */
    private static final int REMEMBERED = 4;

    private static final byte MASKED = (byte) 0xFF;
    private static final byte IPV4_VERSION_AND_LENGTH = 0x45;
    private static final byte IPV6_VERSION_AND_CLASS = 0x6F;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final byte UDP = 17;
    private static final int PORT_MASK = 0xFFFF;

    private final byte[] bytes;
    private final ByteBuffer fields;
    private final boolean ipv4;
    private final int udp;
    private int identification;

    private final int[] lengths = new int[REMEMBERED];
    private final int[] parts = new int[REMEMBERED];
    private int oldest;

    /**
     * Makes one.
     *
     * @param source the sender's address, 4 or 16 bytes
     * @param destination the receiver's address, as many bytes
     * @throws IllegalArgumentException if the addresses are of two families, or of none
     */
    public PseudoHeader(byte[] source, byte[] destination) {
        boolean known = source.length == IPV4_ADDRESS_LENGTH || source.length == IPV6_ADDRESS_LENGTH;
        if (!known || destination.length != source.length) {
            throw new IllegalArgumentException("addresses of " + source.length + " and " + destination.length
                    + " bytes: expected two of 4 or two of 16");
        }
        ipv4 = source.length == IPV4_ADDRESS_LENGTH;
        udp = MASKED_LRH_LENGTH + (ipv4 ? IPV4_LENGTH : IPV6_LENGTH);
        bytes = new byte[udp + UDP_LENGTH];
        fields = ByteBuffer.wrap(bytes);
        Arrays.fill(bytes, 0, MASKED_LRH_LENGTH, MASKED);
        fields.position(MASKED_LRH_LENGTH);
        if (ipv4) {
            fields.put(IPV4_VERSION_AND_LENGTH).put(MASKED).putShort((short) 0);
            fields.putShort((short) 0).putShort((short) DO_NOT_FRAGMENT);
            fields.put(MASKED).put(UDP).put(MASKED).put(MASKED);
        } else {
            fields.put(IPV6_VERSION_AND_CLASS).put(MASKED).put(MASKED).put(MASKED);
            fields.putShort((short) 0).put(UDP).put(MASKED);
        }
        fields.put(source).put(destination);
        ports(RocePacket.UDP_PORT, RocePacket.UDP_PORT);
        fields.putShort(udp + 6, (short) -1);
    }

    /**
     * Sets the sender's address.
     *
     * @param high first half of 16 bytes, big endian
     * @param low second half, which ends with an IPv4 address
     */
    public void source(long high, long low) {
        if (ipv4) {
            set(IPV4_SOURCE_OFFSET, (int) low);
        } else {
            set(IPV6_SOURCE_OFFSET, (int) (high >>> Integer.SIZE));
            set(IPV6_SOURCE_OFFSET + Integer.BYTES, (int) high);
            set(IPV6_SOURCE_OFFSET + Long.BYTES, (int) (low >>> Integer.SIZE));
            set(IPV6_SOURCE_OFFSET + Long.BYTES + Integer.BYTES, (int) low);
        }
    }

    /** Sets the ports; both are 4791 at first. */
    public void ports(int source, int destination) {
        set(udp, source << Short.SIZE | (destination & PORT_MASK));
    }

    /** Sets a word; if it was another one, what is remembered is of another header. */
    private void set(int offset, int word) {
        if (fields.getInt(offset) != word) {
            fields.putInt(offset, word);
            Arrays.fill(parts, UNKNOWN);
        }
    }

    /** Sets the identification of an IPv4 header, 16 bits. */
    public void identification(int newIdentification) {
        if (!ipv4) {
            throw new IllegalStateException("an IPv6 header has no identification");
        }
        identification = newIdentification;
    }

    /** That of an IPv4 header, else 0. */
    int identification() {
        return identification;
    }

    // ---- the ICRC

    /** What this adds to the ICRC of packets of a length, without the identification; or {@link #UNKNOWN}. */
    int part(int length) {
        for (int i = 0; i < REMEMBERED; i++) {
            if (lengths[i] == length) {
                return parts[i];
            }
        }
        return UNKNOWN;
    }

    /** What {@link #part} returns from now on, until lengths have come that are newer. */
    void remember(int length, int part) {
        int slot = oldest;
        for (int i = 0; i < REMEMBERED; i++) {
            slot = lengths[i] == length ? i : slot;
        }
        lengths[slot] = length;
        parts[slot] = part;
        oldest = slot == oldest ? (oldest + 1) % REMEMBERED : oldest;
    }

    /**
     * The header, with identification 0.
     *
     * @param length bytes of the packet: BTH to ICRC
     */
    byte[] bytes(int length) {
        int datagram = UDP_LENGTH + length;
        fields.putShort(udp + 2 * Short.BYTES, (short) datagram);
        if (ipv4) {
            fields.putShort(IPV4_TOTAL_LENGTH_OFFSET, (short) (IPV4_LENGTH + datagram));
        } else {
            fields.putShort(IPV6_PAYLOAD_LENGTH_OFFSET, (short) datagram);
        }
        return bytes;
    }

    /** True for IPv4, whose identification the ICRC covers. */
    public boolean isIpv4() {
        return ipv4;
    }

    /** Bytes between the identification of an IPv4 header and the BTH. */
    static int bytesBehindIdentification() {
        return MASKED_LRH_LENGTH + IPV4_LENGTH + UDP_LENGTH - IPV4_IDENTIFICATION_OFFSET - Short.BYTES;
    }
}
