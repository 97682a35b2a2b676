package org.softrdma.sim.roce.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * The invariant CRC: the CRC-32 of Ethernet over the {@link PseudoHeader}, then the packet up to the ICRC itself, with
 * ones in the place of the BTH's congestion byte (IBA volume 1, 7.8.1; annex A17). Its bytes are little endian on the
 * wire. Not thread-safe; one for each engine.
 *
 * <p>Over IPv4 it covers the identification, which a socket does not tell. {@link #identification} computes it back: the
 * CRC is linear, so the difference between the ICRC that came and the one of identification 0 is the CRC register of the
 * identification alone, followed by as many zero bytes as the rest of the packet has. Multiplying by a power of x^-1
 * modulo the polynomial takes those zero bytes away. What remains is the identification in two bytes of four; in a
 * damaged packet the other two are zero by chance only, once in 65 536.
 */
public final class Icrc {
    /** What {@link #identification} returns if no identification makes the ICRC right. */
    public static final int NONE = -1;

    /** The polynomial in the register's order: bit 31 is x^0. */
    private static final int POLYNOMIAL = 0xEDB8_8320;

    private static final int ONE = 1 << 31;
    private static final int MASKED = 0xFF;
    private static final int IDENTIFICATION_MASK = 0xFFFF;

    /** By n: x^(-8n) modulo the polynomial. */
    private static final int[] ZEROES_TAKEN_AWAY = powers(RocePacket.MAX_LENGTH + 64);

    private final CRC32 crc = new CRC32();
    private final byte[] bth = new byte[Bth.LENGTH];

    /** Makes one. */
    public Icrc() {}

    /**
     * Computes the ICRC of a packet.
     *
     * @param header of its datagram; its length is set here, the identification of IPv4 is the caller's
     * @param view a direct buffer over the memory that the packet is in; its position and limit are changed
     * @param viewAddress address of the view's first byte
     * @param packet where the BTH is
     * @param length bytes of the packet with its ICRC
     */
    public int compute(PseudoHeader header, ByteBuffer view, long viewAddress, long packet, int length) {
        header.packetLength(length);
        int start = Math.toIntExact(packet - viewAddress);
        view.limit(start + length - RocePacket.ICRC_LENGTH);
        view.position(start);
        view.get(bth);
        bth[Bth.CONGESTION_OFFSET] = (byte) MASKED;
        crc.reset();
        crc.update(header.bytes());
        crc.update(bth);
        crc.update(view);
        return (int) crc.getValue();
    }

    /**
     * The identification for which the ICRC of a received IPv4 packet is right.
     *
     * @param received the ICRC that the packet carries
     * @param withoutIdentification the ICRC computed with identification 0
     * @param length bytes of the packet with its ICRC, at most {@link RocePacket#MAX_LENGTH}
     * @return 0 to 65 535, or {@link #NONE}: the packet was damaged
     */
    public static int identification(int received, int withoutIdentification, int length) {
        int behind = PseudoHeader.bytesBehindIdentification() + length - RocePacket.ICRC_LENGTH;
        int register = multiply(received ^ withoutIdentification, ZEROES_TAKEN_AWAY[behind + Integer.BYTES]);
        // The register's bytes in the order in which they were hashed, the lowest first: 00 00, then the
        // identification.
        int inOrder = Integer.reverseBytes(register);
        return (inOrder & ~IDENTIFICATION_MASK) == 0 ? inOrder : NONE;
    }

    /** The product of two polynomials modulo that of the CRC. */
    private static int multiply(int a, int b) {
        int product = 0;
        int factor = b;
        for (int bit = ONE; bit != 0; bit >>>= 1) {
            product ^= (a & bit) == 0 ? 0 : factor;
            factor = factor >>> 1 ^ ((factor & 1) == 0 ? 0 : POLYNOMIAL);
        }
        return product;
    }

    private static int[] powers(int count) {
        int[] powers = new int[count];
        powers[0] = ONE;
        for (int i = 1; i < count; i++) {
            int power = powers[i - 1];
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                // Divided by x: whatever had x^0 in it had the polynomial added, whose x^0 is 1.
                power = power < 0 ? (power ^ POLYNOMIAL) << 1 | 1 : power << 1;
            }
            powers[i] = power;
        }
        return powers;
    }
}
