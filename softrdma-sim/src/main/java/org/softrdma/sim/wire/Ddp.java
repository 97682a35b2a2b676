package org.softrdma.sim.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * FPDUs and the DDP and RDMAP headers in them (RFC 5044 section 4, RFC 5041 section 4, RFC 5040 section 4).
 *
 * <p>All offsets count from the first byte of the FPDU, which is its length field. Big endian. The sender writes every
 * field.
 *
 * <pre>
 *   FPDU: length field | ULPDU = header and payload | pad to a multiple of 4, counted from the length field | CRC field
 *
 *   tagged segment: WRITE, READ response
 *   31              24              16                              0
 *   +-------------------------------+---------------+---------------+
 *   |  ULPDU length (14 + payload)  |T|L| rsvd  |DV |RV |rsvd|opcode|   0
 *   +-------------------------------+---------------+---------------+
 *   |  STag of the data sink                                        |   4
 *   +---------------------------------------------------------------+
 *   |  tagged offset, 64 bits                                       |   8
 *   |                                                               |  12
 *   +---------------------------------------------------------------+
 *   |  payload                                                      |  16
 *
 *   untagged segment: SEND (queue 0), READ request (queue 1), Terminate (queue 2), and those of {@link Rfc7306}
 *   +-------------------------------+---------------+---------------+
 *   |  ULPDU length (18 + payload)  |T|L| rsvd  |DV |RV |rsvd|opcode|   0
 *   +-------------------------------+---------------+---------------+
 *   |  STag to invalidate, else 0                                   |   4
 *   +---------------------------------------------------------------+
 *   |  queue number                                                 |   8
 *   +---------------------------------------------------------------+
 *   |  message sequence number, from 1 on each queue                |  12
 *   +---------------------------------------------------------------+
 *   |  message offset                                               |  16
 *   +---------------------------------------------------------------+
 *   |  payload                                                      |  20
 *
 *   payload of a READ request
 *   +---------------------------------------------------------------+
 *   |  STag of the data sink                                        |  20
 *   |  tagged offset of the data sink, 64 bits                      |  24
 *   |  bytes to read                                                |  32
 *   |  STag of the data source                                      |  36
 *   |  tagged offset of the data source, 64 bits                    |  40
 *   +---------------------------------------------------------------+  48
 * </pre>
 *
 * <p>Control word: T 0x8000 tagged, L 0x4000 last segment of its message, DV 0x0300 DDP version 1, RV 0x00C0 RDMAP
 * version 1, opcode 0x000F.
 */
public final class Ddp {
    /** The ULPDU length field. */
    public static final int LENGTH_OFFSET = 0;
    /** The DDP and RDMAP control fields. */
    public static final int CONTROL_OFFSET = LENGTH_OFFSET + Short.BYTES;
    /** Tagged: STag of the sink. Untagged: STag to invalidate. */
    public static final int STAG_OFFSET = CONTROL_OFFSET + Short.BYTES;
    /** Tagged: offset in the sink. */
    public static final int TAGGED_OFFSET_OFFSET = STAG_OFFSET + Integer.BYTES;
    /** Untagged: queue number. */
    public static final int QUEUE_NUMBER_OFFSET = STAG_OFFSET + Integer.BYTES;
    /** Untagged: message sequence number. */
    public static final int MSN_OFFSET = QUEUE_NUMBER_OFFSET + Integer.BYTES;
    /** Untagged: offset in the message. */
    public static final int MESSAGE_OFFSET_OFFSET = MSN_OFFSET + Integer.BYTES;
    /** Bytes before the payload of a tagged segment. */
    public static final int TAGGED_HEADER_LENGTH = TAGGED_OFFSET_OFFSET + Long.BYTES;
    /** Bytes before the payload of an untagged segment. */
    public static final int UNTAGGED_HEADER_LENGTH = MESSAGE_OFFSET_OFFSET + Integer.BYTES;

    /** READ request: STag of the sink. */
    public static final int READ_SINK_STAG_OFFSET = UNTAGGED_HEADER_LENGTH;
    /** READ request: offset in the sink. */
    public static final int READ_SINK_OFFSET_OFFSET = READ_SINK_STAG_OFFSET + Integer.BYTES;
    /** READ request: bytes to read, unsigned. */
    public static final int READ_LENGTH_OFFSET = READ_SINK_OFFSET_OFFSET + Long.BYTES;
    /** READ request: STag of the source. */
    public static final int READ_SOURCE_STAG_OFFSET = READ_LENGTH_OFFSET + Integer.BYTES;
    /** READ request: offset in the source. */
    public static final int READ_SOURCE_OFFSET_OFFSET = READ_SOURCE_STAG_OFFSET + Integer.BYTES;
    /** End of a READ request's payload. */
    public static final int READ_REQUEST_END = READ_SOURCE_OFFSET_OFFSET + Long.BYTES;
    /** Bytes of the payload of a READ request. */
    public static final int READ_REQUEST_LENGTH = READ_REQUEST_END - UNTAGGED_HEADER_LENGTH;

    /** The CRC field behind the pad. */
    public static final int CRC_LENGTH = Integer.BYTES;
    /** Longest ULPDU that fits the length field. */
    public static final int MAX_ULPDU = 0xFFFF;

    /** Control: tagged buffer model. */
    public static final int TAGGED = 0x8000;
    /** Control: last segment of its message. */
    public static final int LAST = 0x4000;
    /** Control: where the DDP version is. */
    public static final int DDP_VERSION_MASK = 0x0300;
    /** Control: DDP version 1. */
    public static final int DDP_VERSION = 0x0100;
    /** Control: where the RDMAP version is. */
    public static final int RDMAP_VERSION_MASK = 0x00C0;
    /** Control: RDMAP version 1. */
    public static final int RDMAP_VERSION = 0x0040;
    /** Control: where the RDMAP opcode is. */
    public static final int OPCODE_MASK = 0x000F;

    /** Queue of SENDs and immediates. */
    public static final int QUEUE_SEND = 0;
    /** Queue of READ requests and Atomic Requests. */
    public static final int QUEUE_READ_REQUEST = 1;
    /** Queue of Terminates. */
    public static final int QUEUE_TERMINATE = 2;
    /** Queue of Atomic Responses (RFC 7306). */
    public static final int QUEUE_ATOMIC_RESPONSE = 3;

    private static final int VERSIONS = DDP_VERSION | RDMAP_VERSION;

    private Ddp() {}

    /** Bytes of the whole FPDU of a ULPDU. */
    public static int fpduLength(int ulpduLength) {
        return ((Short.BYTES + ulpduLength + 3) & ~3) + CRC_LENGTH;
    }

    /** Pad and CRC bytes behind a ULPDU. */
    public static int trailerLength(int ulpduLength) {
        return fpduLength(ulpduLength) - Short.BYTES - ulpduLength;
    }

    /** The ULPDU length field. */
    public static int ulpduLength(long fpdu) {
        return NativeMemory.getShort(fpdu + LENGTH_OFFSET);
    }

    /** The control word. */
    public static int control(long fpdu) {
        return NativeMemory.getShort(fpdu + CONTROL_OFFSET);
    }

    /**
     * Writes the header of a tagged segment.
     *
     * @param fpdu where
     * @param opcode {@link RdmapOpcode}
     * @param last last segment of its message
     * @param stag STag of the sink
     * @param taggedOffset where in the sink the payload goes
     * @param payload bytes of payload
     */
    public static void putTagged(long fpdu, int opcode, boolean last, int stag, long taggedOffset, int payload) {
        int ulpdu = TAGGED_HEADER_LENGTH - Short.BYTES + payload;
        int control = TAGGED | (last ? LAST : 0) | VERSIONS | opcode;
        NativeMemory.putLong(fpdu, (long) ulpdu << 48 | (long) control << Integer.SIZE | Integer.toUnsignedLong(stag));
        NativeMemory.putLong(fpdu + TAGGED_OFFSET_OFFSET, taggedOffset);
    }

    /**
     * Writes the header of an untagged segment.
     *
     * @param fpdu where
     * @param opcode {@link RdmapOpcode}
     * @param last last segment of its message
     * @param queue queue number
     * @param msn message sequence number
     * @param messageOffset where in the message the payload goes
     * @param payload bytes of payload
     */
    public static void putUntagged(
            long fpdu, int opcode, boolean last, int queue, int msn, int messageOffset, int payload) {
        int ulpdu = UNTAGGED_HEADER_LENGTH - Short.BYTES + payload;
        int control = (last ? LAST : 0) | VERSIONS | opcode;
        NativeMemory.putLong(fpdu, (long) ulpdu << 48 | (long) control << Integer.SIZE);
        NativeMemory.putInt(fpdu + QUEUE_NUMBER_OFFSET, queue);
        NativeMemory.putInt(fpdu + MSN_OFFSET, msn);
        NativeMemory.putInt(fpdu + MESSAGE_OFFSET_OFFSET, messageOffset);
    }

    /**
     * Writes a READ request up to its pad.
     *
     * @param fpdu where
     * @param msn message sequence number on queue 1
     * @param sinkStag STag of the local sink
     * @param sinkOffset tagged offset in the sink
     * @param length bytes to read
     * @param sourceStag STag of the peer's source
     * @param sourceOffset tagged offset in the source
     */
    public static void putReadRequest(
            long fpdu, int msn, int sinkStag, long sinkOffset, int length, int sourceStag, long sourceOffset) {
        putUntagged(fpdu, RdmapOpcode.READ_REQUEST, true, QUEUE_READ_REQUEST, msn, 0, READ_REQUEST_LENGTH);
        NativeMemory.putInt(fpdu + READ_SINK_STAG_OFFSET, sinkStag);
        NativeMemory.putLong(fpdu + READ_SINK_OFFSET_OFFSET, sinkOffset);
        NativeMemory.putInt(fpdu + READ_LENGTH_OFFSET, length);
        NativeMemory.putInt(fpdu + READ_SOURCE_STAG_OFFSET, sourceStag);
        NativeMemory.putLong(fpdu + READ_SOURCE_OFFSET_OFFSET, sourceOffset);
    }
}
