package org.softrdma.farm.message;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of every message between machines: little endian, in a ring's frame. The sender writes it.
 *
 * <pre>
 *  63                            32 31            16 15     8 7      0
 * +--------------------------------+----------------+--------+--------+
 * |  epoch                         |  machine       | flags  |  kind  |   0  flags: 1 answer
 * +--------------------------------+----------------+--------+--------+
 * |  number, which the answer repeats                                 |   8
 * +-------------------------------------------------------------------+
 * |  truncated: the sender's transactions up to here are over         |  16
 * +-------------------------------------------------------------------+
 * |  body                                                             |  24
 * +-------------------------------------------------------------------+
 * </pre>
 *
 * <p>The body of an answer begins with a verdict of 8 bits and 7 bytes of zeroes.
 */
public final class NodeMessageDescriptor {
    private static final int KIND_OFFSET = 0;
    private static final int FLAGS_OFFSET = KIND_OFFSET + Byte.BYTES;
    private static final int MACHINE_OFFSET = FLAGS_OFFSET + Byte.BYTES;
    private static final int EPOCH_OFFSET = MACHINE_OFFSET + Short.BYTES;
    private static final int NUMBER_OFFSET = EPOCH_OFFSET + Integer.BYTES;
    private static final int TRUNCATED_OFFSET = NUMBER_OFFSET + Long.BYTES;

    /** Where the body begins. */
    public static final int BODY_OFFSET = TRUNCATED_OFFSET + Long.BYTES;

    /** Where the body of an answer goes on behind the verdict. */
    public static final int RESULT_OFFSET = BODY_OFFSET + Long.BYTES;

    private static final byte ANSWER = 1;

    private NodeMessageDescriptor() {}

    /**
     * A request; the node fills in who sends it and when.
     *
     * @param kind what it asks for
     * @param body bytes of the body
     */
    public static ByteBuffer request(NodeMessageKind kind, int body) {
        ByteBuffer message = ByteBuffer.allocate(BODY_OFFSET + body).order(ByteOrder.LITTLE_ENDIAN);
        return message.put(KIND_OFFSET, (byte) kind.ordinal());
    }

    /**
     * An answer.
     *
     * @param verdict what came of the request
     * @param result bytes behind the verdict
     */
    public static ByteBuffer answer(NodeVerdict verdict, int result) {
        ByteBuffer message = ByteBuffer.allocate(RESULT_OFFSET + result).order(ByteOrder.LITTLE_ENDIAN);
        message.put(FLAGS_OFFSET, ANSWER);
        return message.put(BODY_OFFSET, (byte) verdict.ordinal());
    }

    /** True if a message is long enough, and of a known kind. */
    public static boolean isValid(ByteBuffer message) {
        return message.limit() >= BODY_OFFSET
                && Byte.toUnsignedInt(message.get(KIND_OFFSET)) < NodeMessageKind.values().length
                && (!isAnswer(message)
                        || (message.limit() >= RESULT_OFFSET
                                && Byte.toUnsignedInt(message.get(BODY_OFFSET)) < NodeVerdict.values().length));
    }

    /** True if it is an answer. */
    public static boolean isAnswer(ByteBuffer message) {
        return (message.get(FLAGS_OFFSET) & ANSWER) != 0;
    }

    /** What a request asks for, or an answer answers. */
    public static NodeMessageKind kind(ByteBuffer message) {
        return NodeMessageKind.values()[message.get(KIND_OFFSET)];
    }

    /** What an answer says. */
    public static NodeVerdict verdict(ByteBuffer answer) {
        return NodeVerdict.values()[answer.get(BODY_OFFSET)];
    }

    /** Who has sent it. */
    public static int machine(ByteBuffer message) {
        return Short.toUnsignedInt(message.getShort(MACHINE_OFFSET));
    }

    /** In which epoch. */
    public static int epoch(ByteBuffer message) {
        return message.getInt(EPOCH_OFFSET);
    }

    /** Its number. */
    public static long number(ByteBuffer message) {
        return message.getLong(NUMBER_OFFSET);
    }

    /**
     * Fills in who sends it and when.
     *
     * @param message a request or an answer
     * @param machine of the sender
     * @param epoch of the sender
     * @param number of the request
     * @param truncated the sender's transactions up to here are over
     */
    public static void stamp(ByteBuffer message, int machine, int epoch, long number, long truncated) {
        message.putShort(MACHINE_OFFSET, (short) machine)
                .putInt(EPOCH_OFFSET, epoch)
                .putLong(NUMBER_OFFSET, number)
                .putLong(TRUNCATED_OFFSET, truncated);
    }

    /** The sender's transactions up to here are over. */
    public static long truncated(ByteBuffer message) {
        return message.getLong(TRUNCATED_OFFSET);
    }

    /** Makes an answer one to a request. */
    public static void answers(ByteBuffer answer, ByteBuffer request) {
        answer.put(KIND_OFFSET, request.get(KIND_OFFSET));
    }
}
