package org.softrdma.sim.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * MPA request and reply frames, the handshake of a connection (RFC 5044 section 7.1.1, enhanced by RFC 6581 sections 6
 * and 9).
 *
 * <p>Big endian. The initiator writes the request, the responder the reply.
 *
 * <pre>
 *   31              24              16                              0
 *   +---------------------------------------------------------------+
 *   |  key, 16 bytes: "MPA ID Req Frame" or "MPA ID Rep Frame"      |   0
 *   +-+-+-+-+-------+---------------+-------------------------------+
 *   |M|C|R|S| rsvd  |  revision     |  private data length          |  16
 *   +-+-+-+-+-------+---------------+-------------------------------+
 *   |A|B|  IRD (14)                 |C|D|  ORD (14)                  |  20   only if S; counts as private data
 *   +-------------------------------+-------------------------------+
 *   |  private data of the upper layer                              |
 * </pre>
 *
 * <p>M: the sender wants to receive markers. C: CRC is in use if either side sets it. R: rejected. S: enhanced. A:
 * peer-to-peer, then B, C, D: ready-to-receive by a zero-length SEND, WRITE or READ.
 *
 * @param request a request, else a reply
 * @param markers M
 * @param crc C
 * @param rejected R
 * @param enhanced S
 * @param revision 1 or 2
 * @param peerToPeer A
 * @param rtr which zero-length messages may serve as ready-to-receive: {@link #RTR_SEND}, {@link #RTR_WRITE},
 *     {@link #RTR_READ}
 * @param ird READs that the sender accepts in flight, 0 to {@link #DEPTH_MASK}; 0 if not enhanced
 * @param ord READs that the sender wants in flight, 0 to {@link #DEPTH_MASK}; 0 if not enhanced
 * @param privateData of the upper layer
 */
@SuppressWarnings("ArrayRecordComponent") // cloned on the way in and out
public record MpaFrame(
        boolean request,
        boolean markers,
        boolean crc,
        boolean rejected,
        boolean enhanced,
        int revision,
        boolean peerToPeer,
        int rtr,
        int ird,
        int ord,
        byte[] privateData) {
    /** Ready-to-receive by a zero-length SEND. */
    public static final int RTR_SEND = 1;
    /** Ready-to-receive by a zero-length WRITE. */
    public static final int RTR_WRITE = 1 << 1;
    /** Ready-to-receive by a zero-length READ. */
    public static final int RTR_READ = 1 << 2;
    /** Largest IRD or ORD; as a value it means "not negotiated" (RFC 6581 section 9.1). */
    public static final int DEPTH_MASK = 0x3FFF;
    /** Bytes of the key. */
    public static final int KEY_LENGTH = 16;
    /** Bytes before the private data. */
    public static final int HEADER_LENGTH = KEY_LENGTH + 4;
    /** Most bytes in the private data field (RFC 5044 section 7.1.1). */
    public static final int MAX_PRIVATE_DATA_FIELD = 512;
    /** Bytes that the enhanced frame takes of it. */
    public static final int DEPTHS_LENGTH = 4;
    /** Most private data of the upper layer in an enhanced frame. */
    public static final int MAX_PRIVATE_DATA = MAX_PRIVATE_DATA_FIELD - DEPTHS_LENGTH;
    /** Longest frame. */
    public static final int MAX_LENGTH = HEADER_LENGTH + MAX_PRIVATE_DATA_FIELD;

    private static final byte[] REQUEST_KEY = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);
    private static final int FLAGS_OFFSET = KEY_LENGTH;
    private static final int REVISION_OFFSET = FLAGS_OFFSET + Byte.BYTES;
    private static final int PRIVATE_DATA_LENGTH_OFFSET = REVISION_OFFSET + Byte.BYTES;
    private static final int FLAG_MARKERS = 0x80;
    private static final int FLAG_CRC = 0x40;
    private static final int FLAG_REJECTED = 0x20;
    private static final int FLAG_ENHANCED = 0x10;
    private static final int HIGH_CONTROL = 0x8000;
    private static final int LOW_CONTROL = 0x4000;

    /** Copies the private data. */
    public MpaFrame {
        privateData = privateData.clone();
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    /**
     * Length in bytes of the frame that begins with these bytes: more than {@code available} if part of it is missing.
     *
     * @param bytes received so far
     * @param available how many
     * @param request a request is expected, else a reply
     * @throws MalformedFrameException if no expected frame begins with these bytes
     */
    public static int frameLength(byte[] bytes, int available, boolean request) throws MalformedFrameException {
        byte[] key = request ? REQUEST_KEY : REPLY_KEY;
        int compare = Math.min(available, KEY_LENGTH);
        if (!Arrays.equals(bytes, 0, compare, key, 0, compare)) {
            throw new MalformedFrameException("expected \"" + new String(key, StandardCharsets.US_ASCII)
                    + "\", but the peer sent " + printable(bytes, compare) + "; it does not speak iWARP");
        }
        if (available < HEADER_LENGTH) {
            return HEADER_LENGTH;
        }
        int length = ByteBuffer.wrap(bytes).getShort(PRIVATE_DATA_LENGTH_OFFSET) & 0xFFFF;
        if (length > MAX_PRIVATE_DATA_FIELD) {
            throw new MalformedFrameException("private data length " + length + ": at most " + MAX_PRIVATE_DATA_FIELD
                    + " (RFC 5044 section 7.1.1)");
        }
        return HEADER_LENGTH + length;
    }

    /**
     * Decodes a complete frame.
     *
     * @param bytes the frame, as long as {@link #frameLength} said
     * @param length its bytes
     * @param request a request, else a reply
     * @throws MalformedFrameException if the revision is unknown, or the frame is enhanced without room for IRD and ORD
     */
    public static MpaFrame decode(byte[] bytes, int length, boolean request) throws MalformedFrameException {
        ByteBuffer frame = ByteBuffer.wrap(bytes, 0, length);
        int flags = frame.get(FLAGS_OFFSET);
        int revision = frame.get(REVISION_OFFSET) & 0xFF;
        if (revision != 1 && revision != 2) {
            throw new MalformedFrameException("MPA revision " + revision + ": expected 1 or 2");
        }
        boolean enhanced = revision == 2 && (flags & FLAG_ENHANCED) != 0;
        if (enhanced && length < HEADER_LENGTH + DEPTHS_LENGTH) {
            throw new MalformedFrameException("enhanced frame with " + (length - HEADER_LENGTH)
                    + " bytes of private data: expected at least " + DEPTHS_LENGTH + " for IRD and ORD");
        }
        int ird = enhanced ? frame.getShort(HEADER_LENGTH) & 0xFFFF : 0;
        int ord = enhanced ? frame.getShort(HEADER_LENGTH + Short.BYTES) & 0xFFFF : 0;
        int rtr = ((ird & LOW_CONTROL) != 0 ? RTR_SEND : 0)
                | ((ord & HIGH_CONTROL) != 0 ? RTR_WRITE : 0)
                | ((ord & LOW_CONTROL) != 0 ? RTR_READ : 0);
        boolean peerToPeer = (ird & HIGH_CONTROL) != 0;
        return new MpaFrame(
                request,
                (flags & FLAG_MARKERS) != 0,
                (flags & FLAG_CRC) != 0,
                (flags & FLAG_REJECTED) != 0,
                enhanced,
                revision,
                peerToPeer,
                peerToPeer ? rtr : 0,
                ird & DEPTH_MASK,
                ord & DEPTH_MASK,
                Arrays.copyOfRange(bytes, HEADER_LENGTH + (enhanced ? DEPTHS_LENGTH : 0), length));
    }

    /** The frame as bytes. */
    public byte[] encode() {
        int field = (enhanced ? DEPTHS_LENGTH : 0) + privateData.length;
        ByteBuffer frame = ByteBuffer.allocate(HEADER_LENGTH + field);
        frame.put(request ? REQUEST_KEY : REPLY_KEY);
        frame.put((byte) ((markers ? FLAG_MARKERS : 0)
                | (crc ? FLAG_CRC : 0)
                | (rejected ? FLAG_REJECTED : 0)
                | (enhanced ? FLAG_ENHANCED : 0)));
        frame.put((byte) revision);
        frame.putShort((short) field);
        if (enhanced) {
            frame.putShort((short) ((peerToPeer ? HIGH_CONTROL : 0) | ((rtr & RTR_SEND) != 0 ? LOW_CONTROL : 0) | ird));
            frame.putShort((short)
                    (((rtr & RTR_WRITE) != 0 ? HIGH_CONTROL : 0) | ((rtr & RTR_READ) != 0 ? LOW_CONTROL : 0) | ord));
        }
        frame.put(privateData);
        return frame.array();
    }

    private static String printable(byte[] bytes, int length) {
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < length; i++) {
            char c = (char) (bytes[i] & 0xFF);
            text.append(c >= ' ' && c < 0x7F ? String.valueOf(c) : String.format("\\x%02x", (int) c));
        }
        return text.append('"').toString();
    }
}
