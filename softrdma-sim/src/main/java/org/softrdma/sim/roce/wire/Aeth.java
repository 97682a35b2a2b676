package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The acknowledge extended transport header, behind the BTH of an acknowledgement and of all answers but those in the
 * middle of a READ's (IBA volume 1, 9.7.5). Big endian; the responder writes every field. Offsets count from the BTH.
 *
 * <pre>
 *   31            24 23                                             0
 *   +---------------+-----------------------------------------------+
 *   |  syndrome     |  message sequence number                      |  12
 *   +---------------+-----------------------------------------------+  16
 *
 *   syndrome   0 00 ccccc   acknowledged, with a credit count; 11111 means that none is given
 *              0 01 ttttt   receiver not ready (RNR NAK), with a timer, see {@link RnrTimer}
 *              0 11 nnnnn   refused (NAK), with a code
 * </pre>
 *
 * <p>The message sequence number counts the requests that the responder has completed, from 0; a READ counts when it is
 * accepted.
 */
public final class Aeth {
    /** The word that begins with the syndrome and ends with the message sequence number. */
    public static final int SYNDROME_OFFSET = Bth.LENGTH;
    /** Bytes of the header. */
    public static final int LENGTH = Integer.BYTES;

    /** Syndrome: acknowledged, without credits. */
    public static final int ACKNOWLEDGED = 0x1F;
    /** Syndrome: NAK, a packet is missing; the PSN is the first that is. */
    public static final int SEQUENCE_ERROR = 0x60;
    /** Syndrome: NAK, the request is malformed, or not allowed on this queue pair. */
    public static final int INVALID_REQUEST = 0x61;
    /** Syndrome: NAK, the key, the range or the right is wrong. */
    public static final int REMOTE_ACCESS_ERROR = 0x62;
    /** Syndrome: NAK, the responder could not do it for reasons of its own. */
    public static final int REMOTE_OPERATIONAL_ERROR = 0x63;

    private static final int SYNDROME_SHIFT = Integer.SIZE - Byte.SIZE;
    private static final int KIND_MASK = 0xE0;
    private static final int RNR = 0x20;
    private static final int NAK = 0x60;
    private static final int VALUE_MASK = 0x1F;

    private Aeth() {}

    /**
     * Writes the header.
     *
     * @param packet where the BTH is
     * @param syndrome one of the constants, or {@link #receiverNotReady}
     * @param msn message sequence number, of which 24 bits are taken
     */
    public static void put(long packet, int syndrome, int msn) {
        NativeMemory.putInt(packet + SYNDROME_OFFSET, syndrome << SYNDROME_SHIFT | (msn & Psn.MASK));
    }

    /** The syndrome of an RNR NAK with a code of {@link RnrTimer}. */
    public static int receiverNotReady(int timer) {
        return RNR | timer;
    }

    /** The syndrome, 0 to 255. */
    public static int syndrome(long packet) {
        return NativeMemory.getInt(packet + SYNDROME_OFFSET) >>> SYNDROME_SHIFT;
    }

    /** The message sequence number. */
    public static int msn(long packet) {
        return NativeMemory.getInt(packet + SYNDROME_OFFSET) & Psn.MASK;
    }

    /** True if a syndrome says that all is well. */
    public static boolean isAcknowledged(int syndrome) {
        return (syndrome & KIND_MASK) == 0;
    }

    /** True if a syndrome is that of an RNR NAK. */
    public static boolean isReceiverNotReady(int syndrome) {
        return (syndrome & KIND_MASK) == RNR;
    }

    /** True if a syndrome is that of a NAK. */
    public static boolean isNak(int syndrome) {
        return (syndrome & KIND_MASK) == NAK;
    }

    /** The credit code, timer code or NAK code of a syndrome. */
    public static int value(int syndrome) {
        return syndrome & VALUE_MASK;
    }
}
