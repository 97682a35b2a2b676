package org.softrdma.kv.binary;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Layout of the header that every frame of the binary protocol begins with, request or answer, as memcached's
 * doc/protocol-binary.txt has it. Big endian, not aligned. The client writes requests, the server answers.
 *
 * <pre>
 *  31            24 23            16 15                             0
 * +----------------+----------------+--------------------------------+
 * | magic          | opcode         | key length                     |   0   magic: 0x80 request, 0x81 answer
 * +----------------+----------------+--------------------------------+
 * | extras length  | data type      | vbucket, or status             |   4   data type: 0; vbucket: ignored
 * +----------------+----------------+--------------------------------+
 * | body length: extras, key and value                               |   8   unsigned
 * +------------------------------------------------------------------+
 * | opaque                                                           |  12   the client's, repeated in the answer
 * +------------------------------------------------------------------+
 * | cas number                                                       |  16   0 for none
 * |                                                                  |
 * +------------------------------------------------------------------+
 * | extras (ExtrasDescriptor), key, value                            |  24
 * +------------------------------------------------------------------+
 * </pre>
 */
public final class FrameDescriptor {
    private static final int MAGIC_OFFSET = 0;
    private static final int OPCODE_OFFSET = MAGIC_OFFSET + Byte.BYTES;
    private static final int KEY_LENGTH_OFFSET = OPCODE_OFFSET + Byte.BYTES;
    private static final int EXTRAS_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Short.BYTES;
    private static final int DATA_TYPE_OFFSET = EXTRAS_LENGTH_OFFSET + Byte.BYTES;
    private static final int STATUS_OFFSET = DATA_TYPE_OFFSET + Byte.BYTES;
    private static final int BODY_LENGTH_OFFSET = STATUS_OFFSET + Short.BYTES;
    private static final int OPAQUE_OFFSET = BODY_LENGTH_OFFSET + Integer.BYTES;
    private static final int CAS_OFFSET = OPAQUE_OFFSET + Integer.BYTES;

    /** Bytes of the header; behind it the body begins. */
    public static final int LENGTH = CAS_OFFSET + Long.BYTES;

    /** The first byte of every request; no line of text begins with it. */
    public static final byte REQUEST_MAGIC = (byte) 0x80;

    /** The first byte of every answer. */
    public static final byte ANSWER_MAGIC = (byte) 0x81;

    static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private FrameDescriptor() {}

    /**
     * Writes a header.
     *
     * @param frame takes it from its start
     * @param magic request or answer
     * @param opcode of the request
     * @param status of an answer; 0 in a request
     * @param extrasLength bytes of the extras
     * @param keyLength bytes of the key
     * @param bodyLength bytes of extras, key and value
     * @param opaque the client's number
     * @param cas the cas number, 0 for none
     */
    public static void write(
            byte[] frame,
            byte magic,
            byte opcode,
            int status,
            int extrasLength,
            int keyLength,
            int bodyLength,
            int opaque,
            long cas) {
        frame[MAGIC_OFFSET] = magic;
        frame[OPCODE_OFFSET] = opcode;
        SHORT.set(frame, KEY_LENGTH_OFFSET, (short) keyLength);
        frame[EXTRAS_LENGTH_OFFSET] = (byte) extrasLength;
        frame[DATA_TYPE_OFFSET] = 0;
        SHORT.set(frame, STATUS_OFFSET, (short) status);
        INT.set(frame, BODY_LENGTH_OFFSET, bodyLength);
        INT.set(frame, OPAQUE_OFFSET, opaque);
        LONG.set(frame, CAS_OFFSET, cas);
    }

    /** The magic byte of a frame. */
    public static byte magic(byte[] frame) {
        return frame[MAGIC_OFFSET];
    }

    /** The opcode of a frame. */
    public static byte opcode(byte[] frame) {
        return frame[OPCODE_OFFSET];
    }

    /** Bytes of the key, 0 to 65535. */
    public static int keyLength(byte[] frame) {
        return Short.toUnsignedInt((short) SHORT.get(frame, KEY_LENGTH_OFFSET));
    }

    /** Bytes of the extras, 0 to 255. */
    public static int extrasLength(byte[] frame) {
        return Byte.toUnsignedInt(frame[EXTRAS_LENGTH_OFFSET]);
    }

    /** The status of an answer, see {@link Status}. */
    public static int status(byte[] frame) {
        return Short.toUnsignedInt((short) SHORT.get(frame, STATUS_OFFSET));
    }

    /** Bytes of the body, 0 to 2^32 - 1. */
    public static long bodyLength(byte[] frame) {
        return Integer.toUnsignedLong((int) INT.get(frame, BODY_LENGTH_OFFSET));
    }

    /** The client's number. */
    public static int opaque(byte[] frame) {
        return (int) INT.get(frame, OPAQUE_OFFSET);
    }

    /** The cas number, unsigned; 0 for none. */
    public static long cas(byte[] frame) {
        return (long) LONG.get(frame, CAS_OFFSET);
    }

    /**
     * True if the fields of the body fit into it: whatever else a peer says, its header is one.
     *
     * @param frame at least {@link #LENGTH} bytes
     */
    public static boolean isValid(byte[] frame) {
        return keyLength(frame) + extrasLength(frame) <= bodyLength(frame);
    }
}
