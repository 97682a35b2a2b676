package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The base transport header, with which every packet begins (IBA volume 1, 9.2). Big endian; the packet's sender writes
 * every field; switches may set FECN and BECN, which the invariant CRC does not cover.
 *
 * <pre>
 *   31            24 23 22 21 20 19    16 15                        0
 *   +---------------+--+--+-----+--------+--------------------------+
 *   |  opcode       |SE|M | pad |version |  partition key           |  0
 *   +--+--+---------+--+--+-----+--------+--------------------------+
 *   |F |B | reserved   |  destination queue pair                    |  4
 *   +--+--+------------+--------------------------------------------+
 *   |A |  reserved     |  packet sequence number                    |  8
 *   +--+---------------+--------------------------------------------+  12
 * </pre>
 *
 * <p>SE: solicited event. M: migrated; SoftRoCE sends 0, cards send 1. pad: zero bytes behind the payload. F and B:
 * congestion was seen on the way here, or on the way back. A: the requester asks for an acknowledgement.
 */
public final class Bth {
    /** Opcode, see {@link RoceOpcode}. */
    public static final int OPCODE_OFFSET = 0;
    /** Solicited event, migration state, pad count, version. */
    public static final int FLAGS_OFFSET = OPCODE_OFFSET + Byte.BYTES;
    /** Partition key. */
    public static final int PARTITION_KEY_OFFSET = FLAGS_OFFSET + Byte.BYTES;
    /** Congestion bits and reserved bits: not covered by the invariant CRC. */
    public static final int CONGESTION_OFFSET = PARTITION_KEY_OFFSET + Short.BYTES;
    /** The word that ends with the number of the destination's queue pair. */
    public static final int DESTINATION_OFFSET = CONGESTION_OFFSET;
    /** The word that begins with the acknowledgement request and ends with the PSN. */
    public static final int PSN_OFFSET = DESTINATION_OFFSET + Integer.BYTES;
    /** Bytes of the header. */
    public static final int LENGTH = PSN_OFFSET + Integer.BYTES;

    /** Flag for {@link #put}: raises a solicited event at the receiver. */
    public static final int SOLICITED = 0x80;
    /** Flag for {@link #put}: the migration state is "migrated". */
    public static final int MIGRATED = 0x40;

    /** The only partition of RoCE, with full membership. */
    public static final int DEFAULT_PARTITION = 0xFFFF;
    /** The only version of the transport that there is. */
    public static final int VERSION = 0;

    private static final int PAD_MASK = 0x30;
    private static final int PAD_SHIFT = Integer.numberOfTrailingZeros(PAD_MASK);
    private static final int VERSION_MASK = 0x0F;
    private static final int FULL_MEMBER = 0x8000;
    private static final int ACKNOWLEDGE_REQUEST = 1 << 31;
    private static final int FECN = 0x80;
    private static final int BECN = 0x40;
    private static final int BYTE_MASK = 0xFF;

    private Bth() {}

    /**
     * Writes the header, in the default partition and without congestion bits.
     *
     * @param packet where, {@link #LENGTH} bytes
     * @param opcode transport and operation
     * @param flags {@link #SOLICITED}, {@link #MIGRATED} or both or 0
     * @param payloadLength bytes behind the headers, from which the pad follows
     * @param destination number of the receiver's queue pair, 24 bits
     * @param psn packet sequence number, 24 bits
     */
    public static void put(long packet, int opcode, int flags, int payloadLength, int destination, int psn) {
        NativeMemory.putByte(packet + OPCODE_OFFSET, opcode);
        NativeMemory.putByte(packet + FLAGS_OFFSET, flags | pad(payloadLength) << PAD_SHIFT | VERSION);
        NativeMemory.putShort(packet + PARTITION_KEY_OFFSET, DEFAULT_PARTITION);
        NativeMemory.putInt(packet + DESTINATION_OFFSET, destination);
        NativeMemory.putInt(packet + PSN_OFFSET, psn);
    }

    /** Asks for an acknowledgement of a packet whose header is written. */
    public static void requestAcknowledgement(long packet) {
        NativeMemory.putInt(packet + PSN_OFFSET, NativeMemory.getInt(packet + PSN_OFFSET) | ACKNOWLEDGE_REQUEST);
    }

    /** The zero bytes that follow a payload, 0 to 3. */
    public static int pad(int payloadLength) {
        return -payloadLength & Integer.BYTES - 1;
    }

    /** The opcode, 0 to 255. */
    public static int opcode(long packet) {
        return NativeMemory.getByte(packet + OPCODE_OFFSET) & BYTE_MASK;
    }

    /** {@link #SOLICITED} and {@link #MIGRATED} as they were sent. */
    public static int flags(long packet) {
        return NativeMemory.getByte(packet + FLAGS_OFFSET) & (SOLICITED | MIGRATED);
    }

    /** The zero bytes behind the payload, as the header says. */
    public static int padCount(long packet) {
        return (NativeMemory.getByte(packet + FLAGS_OFFSET) & PAD_MASK) >>> PAD_SHIFT;
    }

    /** The version of the transport. */
    public static int version(long packet) {
        return NativeMemory.getByte(packet + FLAGS_OFFSET) & VERSION_MASK;
    }

    /** True if the packet is of the default partition: equal in the lower 15 bits; we are a full member (9.6.1.2.1). */
    public static boolean isOfDefaultPartition(long packet) {
        return ((NativeMemory.getShort(packet + PARTITION_KEY_OFFSET) ^ DEFAULT_PARTITION) & ~FULL_MEMBER) == 0;
    }

    /** True if the packet met congestion on its way here. */
    public static boolean hasForwardCongestion(long packet) {
        return (NativeMemory.getByte(packet + CONGESTION_OFFSET) & FECN) != 0;
    }

    /** True if the receiver's own packets met congestion. */
    public static boolean hasBackwardCongestion(long packet) {
        return (NativeMemory.getByte(packet + CONGESTION_OFFSET) & BECN) != 0;
    }

    /** Number of the receiver's queue pair. */
    public static int destination(long packet) {
        return NativeMemory.getInt(packet + DESTINATION_OFFSET) & Psn.MASK;
    }

    /** True if the requester asks for an acknowledgement. */
    public static boolean isAcknowledgementRequested(long packet) {
        return (NativeMemory.getInt(packet + PSN_OFFSET) & ACKNOWLEDGE_REQUEST) != 0;
    }

    /** The packet sequence number. */
    public static int psn(long packet) {
        return NativeMemory.getInt(packet + PSN_OFFSET) & Psn.MASK;
    }
}
