package org.softrdma.run.uverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import org.softrdma.sim.roce.wire.Gid;

/**
 * Attributes of a queue pair, kept as {@code struct ib_uverbs_modify_qp} has them, and told as {@code ib_uverbs_query_qp_resp}. What
 * MODIFY_QP has set is told again.
 *
 * <pre>
 *   MODIFY_QP  QUERY_QP
 *           0         0  path (32 bytes): GID (16), flow label (4), LID (2), nothing (2), index of the own GID, hop limit,
 *                        class, service level, path bits, rate, is global, port (1 each)
 *          32        32  other path (32)
 *                    64  limits (five times 4)
 *          64            handle (4), mask (4)
 *          72        84  queue key, first PSN to receive and to send, peer's number, rights (4 each), keys (2 each)
 *          96       108  state, current state, transfer unit, path migration (1 each)
 *         100       112  draining (1)
 *         101       113  READs to send and to serve, RNR timer, port, timeout, retries, RNR retries, other port and timeout (1 each)
 *                   122  all signalled (1)
 *         112       128
 * </pre>
 */
final class PairAttributes {
    static final int ANSWER_LENGTH = 128;
    static final int HANDLE_OFFSET = 64;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int LENGTH = 112;
    private static final int MASK_OFFSET = HANDLE_OFFSET + Integer.BYTES;
    private static final int OWN_GID_OFFSET = 24;
    private static final int IS_GLOBAL_OFFSET = 30;
    private static final int PATH_LENGTH = 32;
    private static final int QUEUE_KEY_OFFSET = 72;
    private static final int RECEIVE_PSN_OFFSET = 76;
    private static final int SEND_PSN_OFFSET = 80;
    private static final int PEER_OFFSET = 84;
    private static final int ACCESS_OFFSET = 88;
    private static final int STATE_OFFSET = 96;
    private static final int CURRENT_STATE_OFFSET = 97;
    private static final int TRANSFER_UNIT_OFFSET = 98;
    private static final int READS_OFFSET = 101;
    private static final int SERVED_READS_OFFSET = 102;
    private static final int RNR_TIMER_OFFSET = 103;
    private static final int PORT_OFFSET = 104;
    private static final int TIMEOUT_OFFSET = 105;
    private static final int RETRIES_OFFSET = 106;
    private static final int RNR_RETRIES_OFFSET = 107;
    private static final int ANSWER_LIMITS_OFFSET = 64;
    private static final int REST_OFFSET = QUEUE_KEY_OFFSET;
    private static final int REST_LENGTH = LENGTH - 2 - REST_OFFSET;
    private static final int ANSWER_REST_OFFSET = 84;
    private static final int ANSWER_STATE_OFFSET = 108;
    private static final int ANSWER_DRAINING_OFFSET = 112;
    private static final int ANSWER_SIGNALLED_OFFSET = 122;

    /** From offset 72: bit of the mask, where its value is, and how long. */
    private static final int[] FIELDS = {
        StateTransitions.QUEUE_KEY,
        QUEUE_KEY_OFFSET,
        4, //
        StateTransitions.RECEIVE_PSN,
        RECEIVE_PSN_OFFSET,
        4, //
        StateTransitions.SEND_PSN,
        SEND_PSN_OFFSET,
        4, //
        StateTransitions.PEER,
        PEER_OFFSET,
        4, //
        StateTransitions.ACCESS,
        ACCESS_OFFSET,
        4, //
        StateTransitions.PARTITION_KEY,
        92,
        2, //
        StateTransitions.TRANSFER_UNIT,
        TRANSFER_UNIT_OFFSET,
        1, //
        StateTransitions.MIGRATION,
        99,
        1, //
        StateTransitions.READS,
        READS_OFFSET,
        1, //
        StateTransitions.SERVED_READS,
        SERVED_READS_OFFSET,
        1, //
        StateTransitions.RNR_TIMER,
        RNR_TIMER_OFFSET,
        1, //
        StateTransitions.PORT,
        PORT_OFFSET,
        1, //
        StateTransitions.TIMEOUT,
        TIMEOUT_OFFSET,
        1, //
        StateTransitions.RETRIES,
        RETRIES_OFFSET,
        1, //
        StateTransitions.RNR_RETRIES,
        RNR_RETRIES_OFFSET,
        1, //
        StateTransitions.PATH,
        0,
        PATH_LENGTH, //
        StateTransitions.OTHER_PATH,
        PATH_LENGTH,
        PATH_LENGTH,
    };

    private final MemorySegment bytes = Arena.ofAuto().allocate(LENGTH, Long.BYTES);

    /** None is set. */
    PairAttributes() {}

    /** What a command wants to set. */
    static int mask(MemorySegment input) {
        return input.get(INT, MASK_OFFSET);
    }

    /** The state that it wants; only if the mask has one. */
    static int state(MemorySegment input) {
        return input.get(BYTE, STATE_OFFSET) & 0xFF;
    }

    /** The state that it takes to be the present one; only if the mask has one. */
    static int currentState(MemorySegment input) {
        return input.get(BYTE, CURRENT_STATE_OFFSET) & 0xFF;
    }

    /** Makes them the same as others. */
    void become(PairAttributes other) {
        bytes.copyFrom(other.bytes);
    }

    /** Keeps what a command sets. */
    void set(MemorySegment input) {
        int mask = mask(input);
        for (int i = 0; i < FIELDS.length; i += 3) {
            if ((mask & FIELDS[i]) != 0) {
                MemorySegment.copy(input, FIELDS[i + 1], bytes, FIELDS[i + 1], FIELDS[i + 2]);
            }
        }
    }

    /** Forgets all. */
    void clear() {
        bytes.fill((byte) 0);
    }

    /** The peer's GID. */
    Gid peerGid() {
        return new Gid(bytes.get(LONG_BE, 0), bytes.get(LONG_BE, Long.BYTES));
    }

    /** Whether the path has GIDs, as every path of RoCE. */
    boolean isGlobal() {
        return bytes.get(BYTE, IS_GLOBAL_OFFSET) != 0;
    }

    /** Index of the own GID. */
    int ownGid() {
        return unsigned(OWN_GID_OFFSET);
    }

    int queueKey() {
        return bytes.get(INT, QUEUE_KEY_OFFSET);
    }

    int receivePsn() {
        return bytes.get(INT, RECEIVE_PSN_OFFSET);
    }

    int sendPsn() {
        return bytes.get(INT, SEND_PSN_OFFSET);
    }

    /** Number of the peer's queue pair. */
    int peer() {
        return bytes.get(INT, PEER_OFFSET);
    }

    /** Rights of the peer, as verbs number them. */
    int access() {
        return bytes.get(INT, ACCESS_OFFSET);
    }

    /** As verbs number it: 1 for 256 bytes to 5 for 4096. */
    int transferUnitCode() {
        return unsigned(TRANSFER_UNIT_OFFSET);
    }

    int reads() {
        return unsigned(READS_OFFSET);
    }

    int servedReads() {
        return unsigned(SERVED_READS_OFFSET);
    }

    int rnrTimer() {
        return unsigned(RNR_TIMER_OFFSET);
    }

    int port() {
        return unsigned(PORT_OFFSET);
    }

    int timeout() {
        return unsigned(TIMEOUT_OFFSET);
    }

    int retries() {
        return unsigned(RETRIES_OFFSET);
    }

    int rnrRetries() {
        return unsigned(RNR_RETRIES_OFFSET);
    }

    private int unsigned(int offset) {
        return bytes.get(BYTE, offset) & 0xFF;
    }

    /**
     * Writes the answer to QUERY_QP.
     *
     * @param capacity five numbers
     * @param state now
     */
    void write(MemorySegment to, List<Integer> capacity, int state, boolean draining, boolean allSignalled) {
        MemorySegment.copy(bytes, 0, to, 0, 2L * PATH_LENGTH);
        for (int i = 0; i < PairLimits.COUNT; i++) {
            to.set(INT, ANSWER_LIMITS_OFFSET + (long) i * Integer.BYTES, capacity.get(i));
        }
        MemorySegment.copy(bytes, REST_OFFSET, to, ANSWER_REST_OFFSET, REST_LENGTH);
        to.set(BYTE, ANSWER_STATE_OFFSET, (byte) state);
        to.set(BYTE, ANSWER_STATE_OFFSET + 1, (byte) state);
        to.set(BYTE, ANSWER_DRAINING_OFFSET, (byte) (draining ? 1 : 0));
        to.set(BYTE, ANSWER_SIGNALLED_OFFSET, (byte) (allSignalled ? 1 : 0));
    }
}
