package org.softrdma.sim.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The Terminate message (RFC 5040 section 4.8): an untagged segment on queue 2 with MSN 1.
 *
 * <p>Offsets count from the first byte of the FPDU, big endian. The terminating side writes every field; D implies that
 * the length and the DDP header follow, R that the READ request follows that.
 *
 * <pre>
 *   31     28 27   24 23            16 15 14 13                     0
 *   +-------+-------+----------------+--+--+--+---------------------+
 *   | layer | etype |  error code    |M |D |R |  reserved           |  20
 *   +-------+-------+----------------+--+--+--+---------------------+
 *   |  ULPDU length of the segment   |  its DDP header: 14 bytes if tagged, 18 bytes if not  |  24
 *   +--------------------------------+------------------------------+
 *   |  READ request, 28 bytes                                       |
 * </pre>
 */
public final class Terminate {
    /** The Terminate Control field. */
    public static final int CONTROL_OFFSET = Ddp.UNTAGGED_HEADER_LENGTH;
    /** Length of the faulty segment. */
    public static final int SEGMENT_LENGTH_OFFSET = CONTROL_OFFSET + Integer.BYTES;
    /** DDP header of the faulty segment, without the MPA length. */
    public static final int DDP_HEADER_OFFSET = SEGMENT_LENGTH_OFFSET + Short.BYTES;
    /** Longest ULPDU: everything included. */
    public static final int MAX_ULPDU =
            DDP_HEADER_OFFSET - Short.BYTES + (Ddp.UNTAGGED_HEADER_LENGTH - Short.BYTES) + Ddp.READ_REQUEST_LENGTH;
    /** Longest FPDU. */
    public static final int MAX_FPDU = Ddp.fpduLength(MAX_ULPDU);
    /** Shortest ULPDU: only the control field. */
    public static final int MIN_ULPDU = SEGMENT_LENGTH_OFFSET - Short.BYTES;

    private static final int SEGMENT_LENGTH_VALID = 1 << 15;
    private static final int DDP_HEADER_INCLUDED = 1 << 14;
    private static final int RDMAP_HEADER_INCLUDED = 1 << 13;

    private Terminate() {}

    /**
     * Writes a Terminate up to its pad.
     *
     * @param fpdu where, {@link #MAX_FPDU} bytes
     * @param cause why
     * @param segment FPDU of the faulty segment, its header complete, or 0
     * @return its ULPDU length
     */
    public static int put(long fpdu, TerminateCause cause, long segment) {
        int flags = 0;
        int length = MIN_ULPDU + Short.BYTES;
        if (segment != 0 && cause.includesDdpHeader()) {
            boolean tagged = (Ddp.control(segment) & Ddp.TAGGED) != 0;
            int header = (tagged ? Ddp.TAGGED_HEADER_LENGTH : Ddp.UNTAGGED_HEADER_LENGTH) - Short.BYTES;
            flags = SEGMENT_LENGTH_VALID | DDP_HEADER_INCLUDED;
            // The segment's length field and DDP header have the same layout in an FPDU as here.
            NativeMemory.copy(segment, fpdu + SEGMENT_LENGTH_OFFSET, Short.BYTES + header);
            length = DDP_HEADER_OFFSET + header;
            boolean readRequest = !tagged && (Ddp.control(segment) & Ddp.OPCODE_MASK) == RdmapOpcode.READ_REQUEST;
            if (readRequest && cause.includesRdmapHeader()) {
                flags |= RDMAP_HEADER_INCLUDED;
                NativeMemory.copy(segment + Ddp.UNTAGGED_HEADER_LENGTH, fpdu + length, Ddp.READ_REQUEST_LENGTH);
                length += Ddp.READ_REQUEST_LENGTH;
            }
        }
        int ulpdu = length - Short.BYTES;
        Ddp.putUntagged(
                fpdu, RdmapOpcode.TERMINATE, true, Ddp.QUEUE_TERMINATE, 1, 0, length - Ddp.UNTAGGED_HEADER_LENGTH);
        NativeMemory.putInt(fpdu + CONTROL_OFFSET, cause.code() << Short.SIZE | flags);
        return ulpdu;
    }

    /** The layer, type and code of a received Terminate whose ULPDU is at least {@link #MIN_ULPDU} bytes. */
    public static int code(long fpdu) {
        return NativeMemory.getInt(fpdu + CONTROL_OFFSET) >>> Short.SIZE;
    }

    /** A code as a peer means it that writes layer and type, four bits each, the wrong way round. */
    public static int withLayerAndTypeSwapped(int code) {
        return ((code & 0x0F00) << 4) | ((code & 0xF000) >>> 4) | (code & 0xFF);
    }

    /** The meaning of a code, for messages. */
    public static String describe(int code) {
        TerminateCause cause = TerminateCause.ofCode(code);
        return cause != null ? cause.text() : "layer/type/code 0x" + Integer.toHexString(code);
    }

    /**
     * The message sequence number of the request on queue 1 that a received Terminate is about, or 0 if it is about
     * something else or does not say.
     *
     * @param fpdu the Terminate
     * @param ulpduLength its ULPDU length, at least {@link #MIN_ULPDU}
     */
    public static int requestMsn(long fpdu, int ulpduLength) {
        int flags = NativeMemory.getInt(fpdu + CONTROL_OFFSET);
        int needed = DDP_HEADER_OFFSET - Short.BYTES + Ddp.UNTAGGED_HEADER_LENGTH - Short.BYTES;
        if ((flags & DDP_HEADER_INCLUDED) == 0 || ulpduLength < needed) {
            return 0;
        }
        // As in put: from its length field on, the terminated segment has the layout of an FPDU.
        long segment = fpdu + SEGMENT_LENGTH_OFFSET;
        int control = Ddp.control(segment);
        boolean request = (control & Ddp.TAGGED) == 0
                && NativeMemory.getInt(segment + Ddp.QUEUE_NUMBER_OFFSET) == Ddp.QUEUE_READ_REQUEST;
        return request ? NativeMemory.getInt(segment + Ddp.MSN_OFFSET) : 0;
    }
}
