package org.softrdma.sim.peer;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * iWARP frames made by hand from the RFCs, independent of the classes under test. A segment here is a ULPDU: DDP header,
 * RDMAP header, payload, without the MPA length, pad and CRC that {@link #fpdu} puts around it.
 */
public final class Frames {
    /** RDMAP opcodes (RFC 5040 section 4.3). */
    public static final int WRITE = 0;

    public static final int READ_REQUEST = 1;
    public static final int READ_RESPONSE = 2;
    public static final int SEND = 3;
    public static final int SEND_INVALIDATE = 4;
    public static final int SEND_SOLICITED = 5;
    public static final int SEND_SOLICITED_INVALIDATE = 6;
    public static final int TERMINATE = 7;

    /** The same of RFC 7306 section 4.1. */
    public static final int IMMEDIATE = 8;

    public static final int IMMEDIATE_SOLICITED = 9;
    public static final int ATOMIC_REQUEST = 10;
    public static final int ATOMIC_RESPONSE = 11;

    /** AOpCodes (RFC 7306 section 10.1). */
    public static final int FETCH_ADD = 0;

    public static final int COMPARE_SWAP = 2;

    /** DDP control: tagged and last, both with version 1 of DDP and RDMAP. */
    public static final int TAGGED = 0x8140;

    public static final int UNTAGGED = 0x0140;
    public static final int LAST = 0x4000;

    /** MPA flags (RFC 5044 section 7.1.1, RFC 6581 section 6). */
    public static final int MARKERS = 0x80;

    public static final int CRC = 0x40;
    public static final int REJECTED = 0x20;
    public static final int ENHANCED = 0x10;

    /** RFC 6581 section 9: control bits beside IRD and ORD. */
    public static final int PEER_TO_PEER = 0x8000_0000;

    public static final int RTR_SEND = 0x4000_0000;
    public static final int RTR_WRITE = 0x8000;
    public static final int RTR_READ = 0x4000;

    public static final String REQUEST_KEY = "MPA ID Req Frame";
    public static final String REPLY_KEY = "MPA ID Rep Frame";

    private static final int CASTAGNOLI_REFLECTED = 0x82F63B78;
    private static final int[] CRC_TABLE = crcTable();

    private Frames() {}

    /** An MPA frame whose private data length is true. */
    public static byte[] mpa(String key, int flags, int revision, byte[] privateData) {
        return mpa(key, flags, revision, privateData.length, privateData);
    }

    /** An MPA frame that says any private data length. */
    public static byte[] mpa(String key, int flags, int revision, int saidLength, byte[] privateData) {
        return ByteBuffer.allocate(20 + privateData.length)
                .put(key.getBytes(StandardCharsets.US_ASCII))
                .put((byte) flags)
                .put((byte) revision)
                .putShort((short) saidLength)
                .put(privateData)
                .array();
    }

    /** IRD, ORD and their control bits, then private data of the upper layer. */
    public static byte[] depths(int control, int ird, int ord, byte... upper) {
        return ByteBuffer.allocate(4 + upper.length)
                .putInt(control | ird << 16 | ord)
                .put(upper)
                .array();
    }

    /** A tagged segment. */
    public static byte[] tagged(int opcode, boolean last, int stag, long taggedOffset, byte... payload) {
        return taggedControl(TAGGED | (last ? LAST : 0) | opcode, stag, taggedOffset, payload);
    }

    /** A tagged segment with any control word. */
    public static byte[] taggedControl(int control, int stag, long taggedOffset, byte... payload) {
        return ByteBuffer.allocate(14 + payload.length)
                .putShort((short) control)
                .putInt(stag)
                .putLong(taggedOffset)
                .put(payload)
                .array();
    }

    /** An untagged segment. */
    public static byte[] untagged(int opcode, boolean last, int queue, int msn, int offset, byte... payload) {
        return untaggedControl(UNTAGGED | (last ? LAST : 0) | opcode, queue, msn, offset, payload);
    }

    /** An untagged segment with any control word. */
    public static byte[] untaggedControl(int control, int queue, int msn, int offset, byte... payload) {
        return ByteBuffer.allocate(18 + payload.length)
                .putShort((short) control)
                .putInt(0)
                .putInt(queue)
                .putInt(msn)
                .putInt(offset)
                .put(payload)
                .array();
    }

    /** A whole SEND. */
    public static byte[] send(int msn, byte... payload) {
        return untagged(SEND, true, 0, msn, 0, payload);
    }

    /** A whole SEND that invalidates a key, solicited or not. */
    public static byte[] sendInvalidate(boolean solicited, int msn, int stag, byte... payload) {
        int opcode = solicited ? SEND_SOLICITED_INVALIDATE : SEND_INVALIDATE;
        byte[] segment = untagged(opcode, true, 0, msn, 0, payload);
        return ByteBuffer.wrap(segment).putInt(2, stag).array();
    }

    /** What a READ request says behind its DDP header. */
    public static byte[] readRequestBody(
            int sinkStag, long sinkOffset, long length, int sourceStag, long sourceOffset) {
        return ByteBuffer.allocate(28)
                .putInt(sinkStag)
                .putLong(sinkOffset)
                .putInt((int) length)
                .putInt(sourceStag)
                .putLong(sourceOffset)
                .array();
    }

    /** A READ request. */
    public static byte[] readRequest(
            int msn, int sinkStag, long sinkOffset, long length, int sourceStag, long sourceOffset) {
        return untagged(
                READ_REQUEST, true, 1, msn, 0, readRequestBody(sinkStag, sinkOffset, length, sourceStag, sourceOffset));
    }

    /** Immediate Data of the verbs' 32 bits. */
    public static byte[] immediate(boolean solicited, int msn, int immediate) {
        return untagged(
                solicited ? IMMEDIATE_SOLICITED : IMMEDIATE,
                true,
                0,
                msn,
                0,
                ByteBuffer.allocate(8).putInt(immediate).putInt(0).array());
    }

    /** What an Atomic Request says behind its DDP header. */
    public static byte[] atomicBody(
            int operation,
            int identifier,
            int stag,
            long offset,
            long data,
            long mask,
            long compare,
            long compareMask) {
        return ByteBuffer.allocate(52)
                .putInt(operation)
                .putInt(identifier)
                .putInt(stag)
                .putLong(offset)
                .putLong(data)
                .putLong(mask)
                .putLong(compare)
                .putLong(compareMask)
                .array();
    }

    /** A FetchAdd of a whole word whose identifier is its MSN, as softrdma sends it. */
    public static byte[] fetchAdd(int msn, int stag, long offset, long delta) {
        return untagged(ATOMIC_REQUEST, true, 1, msn, 0, atomicBody(FETCH_ADD, msn, stag, offset, delta, 0, 0, -1));
    }

    /** A CmpSwap of a whole word whose identifier is its MSN, as softrdma sends it. */
    public static byte[] compareSwap(int msn, int stag, long offset, long expected, long replacement) {
        return untagged(
                ATOMIC_REQUEST,
                true,
                1,
                msn,
                0,
                atomicBody(COMPARE_SWAP, msn, stag, offset, replacement, -1, expected, -1));
    }

    /** An Atomic Response. */
    public static byte[] atomicResponse(int msn, int identifier, long original) {
        return untagged(
                ATOMIC_RESPONSE,
                true,
                3,
                msn,
                0,
                ByteBuffer.allocate(12).putInt(identifier).putLong(original).array());
    }

    /**
     * A Terminate.
     *
     * @param code layer, error type, error code in 16 bits
     * @param segment the segment it is about
     * @param ddpHeader its length and DDP header are included
     * @param readHeader the READ request too
     */
    public static byte[] terminate(int code, byte[] segment, boolean ddpHeader, boolean readHeader) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        int flags = (ddpHeader ? 0xC000 : 0) | (readHeader ? 0x2000 : 0);
        body.writeBytes(ByteBuffer.allocate(4).putInt(code << 16 | flags).array());
        if (ddpHeader) {
            int header = (segment[0] & 0x80) != 0 ? 14 : 18;
            body.writeBytes(
                    ByteBuffer.allocate(2).putShort((short) segment.length).array());
            body.write(segment, 0, header);
            if (readHeader) {
                body.write(segment, header, 28);
            }
        }
        return untagged(TERMINATE, true, 2, 1, 0, body.toByteArray());
    }

    /** The FPDU of a segment: length, pad, and the CRC or zero. */
    public static byte[] fpdu(byte[] segment, boolean crc) {
        int padded = (2 + segment.length + 3) & ~3;
        byte[] bytes = ByteBuffer.allocate(padded + 4)
                .putShort((short) segment.length)
                .put(segment)
                .array();
        if (crc) {
            putCrc(bytes);
        }
        return bytes;
    }

    /** Puts the CRC of an FPDU into its last four bytes, least significant first. */
    public static void putCrc(byte[] fpdu) {
        int crc = crc32c(fpdu, 0, fpdu.length - 4);
        for (int i = 0; i < 4; i++) {
            fpdu[fpdu.length - 4 + i] = (byte) (crc >>> (8 * i));
        }
    }

    /** CRC32C by a table made bit by bit (RFC 3720 section 12.1). */
    public static int crc32c(byte[] bytes, int from, int to) {
        int crc = -1;
        for (int i = from; i < to; i++) {
            crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ bytes[i]) & 0xFF];
        }
        return ~crc;
    }

    private static int[] crcTable() {
        int[] table = new int[256];
        for (int i = 0; i < table.length; i++) {
            int crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc >>> 1) ^ ((crc & 1) != 0 ? CASTAGNOLI_REFLECTED : 0);
            }
            table[i] = crc;
        }
        return table;
    }

    /** Hex digits, blanks between them ignored. */
    public static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
    }
}
