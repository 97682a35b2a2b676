package org.softrdma.bench.workload;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of an answer in memcached's binary protocol (protocol_binary.txt, "Response header"), with the extras and the
 * key behind it; big-endian.
 */
final class BinaryHead implements AnswerHead {
    private static final byte REQUEST = (byte) 0x80;
    private static final byte RESPONSE = (byte) 0x81;
    private static final byte GETK = 0x0C;
    private static final int HEADER_LENGTH = 24;
    private static final int KEY_LENGTH = 2;
    private static final int EXTRAS_LENGTH = 4;
    private static final int STATUS = 6;
    private static final int BODY_LENGTH = 8;
    private static final int KEY_NOT_FOUND = 1;

    /** What comes before the key of a request that gets it and its value. */
    static byte[] getk(int keyLength) {
        return ByteBuffer.allocate(HEADER_LENGTH)
                .put(0, REQUEST)
                .put(1, GETK)
                .putShort(KEY_LENGTH, (short) keyLength)
                .putInt(BODY_LENGTH, keyLength)
                .array();
    }

    @Override
    public int take(ByteBuffer input) {
        int from = input.position();
        if (input.remaining() < HEADER_LENGTH) {
            return INCOMPLETE;
        }
        input.order(ByteOrder.BIG_ENDIAN);
        int body = input.getInt(from + BODY_LENGTH);
        int before = (input.get(from + EXTRAS_LENGTH) & 0xFF) + (input.getShort(from + KEY_LENGTH) & 0xFFFF);
        int status = input.getShort(from + STATUS) & 0xFFFF;
        boolean understood = input.get(from) == RESPONSE && input.get(from + 1) == GETK && body >= before;
        if (!understood || status > KEY_NOT_FOUND) {
            return REFUSED;
        }
        int taken = HEADER_LENGTH + (status == KEY_NOT_FOUND ? body : before);
        if (input.remaining() < taken) {
            return INCOMPLETE;
        }
        input.position(from + taken);
        return status == KEY_NOT_FOUND ? MISS : body - before;
    }

    @Override
    public String describe(ByteBuffer input) {
        int from = input.position();
        return String.format(
                "magic 0x%02x, opcode 0x%02x, status %d, %d bytes",
                input.get(from), input.get(from + 1), input.getShort(from + STATUS), input.getInt(from + BODY_LENGTH));
    }
}
