package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * A packet as the payload of a UDP datagram (annex A17): BTH, the headers of its opcode, payload, pad, ICRC.
 *
 * <pre>
 *   +---------------------------------------------------------------+
 *   |  {@link Bth}                                                          |  0
 *   +---------------------------------------------------------------+
 *   |  UD: {@link Deth}; then {@link Reth}, {@link Aeth} or {@link AtomicEth}, by opcode            |  12
 *   +---------------------------------------------------------------+
 *   |  immediate data, or the key to invalidate, by opcode          |
 *   +---------------------------------------------------------------+
 *   |  payload, and zero bytes up to a multiple of 4                |
 *   +---------------------------------------------------------------+
 *   |  {@link Icrc}, the only field that is little endian                   |  length - 4
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * <p>{@link #check} comes before every other method, and before every other look at what a peer sent.
 */
public final class RocePacket {
    /** The UDP port of RoCEv2. */
    public static final int UDP_PORT = 4791;

    /** The queue pair that datagrams to a multicast group are for (IBA volume 1, 10.5.1). */
    public static final int GROUP_QUEUE_PAIR = 0xFF_FFFF;
    /** Bytes of the ICRC. */
    public static final int ICRC_LENGTH = Integer.BYTES;
    /** Payload of a full packet with the largest transfer unit. */
    public static final int MAX_TRANSFER_UNIT = 4_096;
    /** The longest packet: the only one of a WRITE with immediate data. */
    public static final int MAX_LENGTH = Bth.LENGTH + Reth.LENGTH + Integer.BYTES + MAX_TRANSFER_UNIT + ICRC_LENGTH;

    private static final int MIN_LENGTH = Bth.LENGTH + ICRC_LENGTH;

    private RocePacket() {}

    /**
     * Looks whether a received packet has the headers and lengths that its opcode asks for.
     *
     * @param packet where the datagram's payload is
     * @param length its bytes
     */
    public static PacketCheck check(long packet, int length) {
        if (length < MIN_LENGTH) {
            return PacketCheck.TOO_SHORT;
        }
        int opcode = Bth.opcode(packet);
        if (!RoceOpcode.isKnown(opcode)) {
            return PacketCheck.UNKNOWN_OPCODE;
        }
        if (Bth.version(packet) != Bth.VERSION) {
            return PacketCheck.WRONG_VERSION;
        }
        int rest = length - RoceOpcode.headerLength(opcode) - ICRC_LENGTH;
        if (rest < 0) {
            return PacketCheck.TOO_SHORT;
        }
        int payload = rest - Bth.padCount(packet);
        int longest = RoceOpcode.carriesPayload(opcode) ? MAX_TRANSFER_UNIT : 0;
        boolean fits = payload >= 0 && payload <= longest && Bth.pad(payload) == Bth.padCount(packet);
        return fits ? PacketCheck.VALID : PacketCheck.WRONG_LENGTH;
    }

    /** Bytes of a packet with a payload. */
    public static int length(int opcode, int payloadLength) {
        return RoceOpcode.headerLength(opcode) + payloadLength + Bth.pad(payloadLength) + ICRC_LENGTH;
    }

    /** Bytes of the payload of a packet of {@code length} bytes that was checked. */
    public static int payloadLength(long packet, int length) {
        return length - RoceOpcode.headerLength(Bth.opcode(packet)) - Bth.padCount(packet) - ICRC_LENGTH;
    }

    /** Writes the zero bytes behind a payload that is in its place. */
    public static void putPad(long packet, int opcode, int payloadLength) {
        long end = packet + RoceOpcode.headerLength(opcode) + payloadLength;
        for (int i = 0; i < Bth.pad(payloadLength); i++) {
            NativeMemory.putByte(end + i, 0);
        }
    }

    /**
     * Writes the last header: immediate data, or the key to invalidate.
     *
     * @param packet where the BTH is
     * @param opcode one that has it
     * @param value the word, in the order of the host
     */
    public static void putLastWord(long packet, int opcode, int value) {
        NativeMemory.putInt(packet + RoceOpcode.headerLength(opcode) - Integer.BYTES, value);
    }

    /** The last header of a packet whose opcode has immediate data or a key to invalidate. */
    public static int lastWord(long packet) {
        return NativeMemory.getInt(packet + RoceOpcode.headerLength(Bth.opcode(packet)) - Integer.BYTES);
    }

    /** The ICRC that the packet carries. */
    public static int icrc(long packet, int length) {
        return NativeMemory.getIntLittleEndian(packet + length - ICRC_LENGTH);
    }

    /** Writes the ICRC. */
    public static void putIcrc(long packet, int length, int icrc) {
        NativeMemory.putIntLittleEndian(packet + length - ICRC_LENGTH, icrc);
    }
}
