package org.softrdma.testkit.interop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A command to a scripted peer, or its answer, as the payload of one SEND. The answer repeats the command.
 *
 * <pre>
 *   ScriptMessage: big-endian. The sender writes all fields.
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                     command, 64 bits                          |   0   see {@link Command}
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                      first, 64 bits                           |   8
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                     second, 64 bits                           |  16
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                      third, 64 bits                           |  24
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 *
 * @param command what to do
 * @param first meaning by command
 * @param second meaning by command
 * @param third meaning by command
 */
record ScriptMessage(Command command, long first, long second, long third) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long COMMAND_OFFSET = 0;
    private static final long FIRST_OFFSET = COMMAND_OFFSET + Long.BYTES;
    private static final long SECOND_OFFSET = FIRST_OFFSET + Long.BYTES;
    private static final long THIRD_OFFSET = SECOND_OFFSET + Long.BYTES;

    /** Bytes of a message. */
    static final long LENGTH = THIRD_OFFSET + Long.BYTES;

    /** The commands; the ordinal is sent. */
    enum Command {
        /** Sent by a peer that has connected, unasked: the active side speaks first (RFC 5044 section 7.1.2). */
        GREETING,
        /** Asks for region {@code first} of {@link ScriptedPeer.Region}; answer: address, key, length. */
        REGION,
        /** Fills {@code first} bytes of the open region from the seed {@code second}; answer: their CRC-32. */
        FILL,
        /** Answer: the CRC-32 of the first {@code first} bytes of the open region. */
        CHECKSUM,
        /**
         * READs {@code third} bytes at address {@code first}, key {@code second} into the open region; answer: CRC-32.
         */
        READ,
        /** WRITEs the first {@code third} bytes of the open region to address {@code first}, key {@code second}. */
        WRITE,
        /** SENDs the first {@code first} bytes of the open region, then the answer. */
        SEND,
        /** Takes the next message as data; answer, after that: its CRC-32 and length. */
        RECEIVE,
        /** Asks the peer to end the connection; no answer. */
        LEAVE
    }

    static ScriptMessage of(Command command) {
        return new ScriptMessage(command, 0, 0, 0);
    }

    static ScriptMessage of(Command command, long first) {
        return new ScriptMessage(command, first, 0, 0);
    }

    /** A READ or WRITE of this side's memory. */
    static ScriptMessage access(Command command, long address, int rkey, long lengthBytes) {
        return new ScriptMessage(command, address, Integer.toUnsignedLong(rkey), lengthBytes);
    }

    /** Writes it to the start of memory of {@link #LENGTH} bytes or more. */
    void encode(MemorySegment memory) {
        memory.set(LONG, COMMAND_OFFSET, command.ordinal());
        memory.set(LONG, FIRST_OFFSET, first);
        memory.set(LONG, SECOND_OFFSET, second);
        memory.set(LONG, THIRD_OFFSET, third);
    }

    /**
     * Reads a received message.
     *
     * @throws AssertionError if it is none
     */
    static ScriptMessage decode(MemorySegment memory, long lengthBytes) {
        long command = lengthBytes == LENGTH ? memory.get(LONG, COMMAND_OFFSET) : -1;
        if (command < 0 || command >= Command.values().length) {
            throw new AssertionError("expected a control message of " + LENGTH + " bytes, got " + lengthBytes
                    + " bytes with command " + command);
        }
        return new ScriptMessage(
                Command.values()[(int) command],
                memory.get(LONG, FIRST_OFFSET),
                memory.get(LONG, SECOND_OFFSET),
                memory.get(LONG, THIRD_OFFSET));
    }
}
