package org.softrdma.run.uverbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/**
 * Attributes of a queue pair, kept as {@code struct ib_uverbs_modify_qp} has them, and told as {@code ib_uverbs_query_qp_resp}. What
 * MODIFY_QP has set at all is told again.
 *
 * <pre>
 *   MODIFY_QP  QUERY_QP
 *           0         0  path (32 bytes), other path (32)
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
    static final int LENGTH = 112;
    static final int ANSWER_LENGTH = 128;
    static final int HANDLE_OFFSET = 64;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final int MASK_OFFSET = HANDLE_OFFSET + Integer.BYTES;
    private static final int STATE_OFFSET = 96;
    private static final int PATHS_LENGTH = 64;
    private static final int REST_OFFSET = 72;
    private static final int REST_LENGTH = LENGTH - 2 - REST_OFFSET;
    private static final int ANSWER_LIMITS_OFFSET = 64;
    private static final int ANSWER_REST_OFFSET = 84;
    private static final int ANSWER_CURRENT_STATE_OFFSET = 109;
    private static final int ANSWER_SIGNALLED_OFFSET = 122;

    private static final int DATAGRAMS = 4;
    private static final int STATE_BIT = 1;
    private static final int PATH_BIT = 1 << 7;
    private static final int RESET = 0;
    private static final int INIT = 1;
    private static final int ERROR = 6;

    private PairAttributes() {}

    /**
     * Sets attributes.
     *
     * @throws CallRefusedException for states in which a queue pair would have a peer: there is no wire yet
     */
    static void modify(VerbsObject.Pair pair, MemorySegment input) throws CallRefusedException {
        int mask = input.get(ValueLayout.JAVA_INT, MASK_OFFSET);
        int state = (mask & STATE_BIT) == 0 ? RESET : input.get(BYTE, STATE_OFFSET);
        boolean needsPeer = state != RESET && state != INIT && state != ERROR;
        if (needsPeer && pair.type() != DATAGRAMS) {
            throw new CallRefusedException(ErrorNumber.EOPNOTSUPP);
        }
        MemorySegment kept = pair.attributes();
        byte before = kept.get(BYTE, STATE_OFFSET);
        if ((mask & PATH_BIT) != 0) {
            MemorySegment.copy(input, 0, kept, 0, PATHS_LENGTH);
        }
        MemorySegment.copy(input, REST_OFFSET, kept, REST_OFFSET, REST_LENGTH);
        if ((mask & STATE_BIT) == 0) {
            kept.set(BYTE, STATE_OFFSET, before);
        }
    }

    /** Writes the answer to QUERY_QP. */
    static void write(VerbsObject.Pair pair, MemorySegment to) {
        MemorySegment kept = pair.attributes();
        MemorySegment.copy(kept, 0, to, 0, PATHS_LENGTH);
        for (int i = 0; i < PairLimits.COUNT; i++) {
            to.set(
                    ValueLayout.JAVA_INT,
                    ANSWER_LIMITS_OFFSET + (long) i * Integer.BYTES,
                    pair.capacity().get(i));
        }
        MemorySegment.copy(kept, REST_OFFSET, to, ANSWER_REST_OFFSET, REST_LENGTH);
        to.set(BYTE, ANSWER_CURRENT_STATE_OFFSET, kept.get(BYTE, STATE_OFFSET));
        to.set(BYTE, ANSWER_SIGNALLED_OFFSET, (byte) (pair.allSignalled() ? 1 : 0));
    }
}
