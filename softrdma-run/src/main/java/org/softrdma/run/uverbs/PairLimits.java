package org.softrdma.run.uverbs;

import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/**
 * What queue pairs may ask for, and how long their requests are in a ring. Five words: requests to send, to receive, pieces of a request to
 * send, to receive, bytes inline.
 */
final class PairLimits {
    static final int COUNT = 5;

    private static final int MOST_REQUESTS = 0x4000;
    private static final int MOST_PIECES = 32;
    private static final int MOST_SHARED_PIECES = 27;
    private static final int MOST_INLINE = 512;
    /** Reliable connection, unreliable connection, datagrams. */
    private static final int FIRST_TYPE = 2;

    private static final int LAST_TYPE = 4;
    private static final int PIECE_LENGTH = 16;
    /** Of {@code struct rxe_send_wqe}, without pieces. */
    private static final int SEND_LENGTH = 208;
    /** Of {@code struct rxe_recv_wqe}, without pieces. */
    private static final int RECEIVE_LENGTH = 40;

    private PairLimits() {}

    static void check(int type, int[] capacity) throws CallRefusedException {
        if (type < FIRST_TYPE || type > LAST_TYPE) {
            throw new CallRefusedException(ErrorNumber.EOPNOTSUPP);
        }
        check(capacity[0], MOST_REQUESTS);
        check(capacity[1], MOST_REQUESTS);
        check(capacity[2], MOST_PIECES);
        check(capacity[3], MOST_PIECES);
        check(capacity[4], MOST_INLINE);
    }

    static void checkShared(int requests, int pieces) throws CallRefusedException {
        check(requests - 1, MOST_REQUESTS - 1);
        check(pieces, MOST_SHARED_PIECES);
    }

    private static void check(int value, int most) throws CallRefusedException {
        if (value < 0 || value > most) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    /** Pieces and inline bytes have the same place. */
    static int inlineLength(int[] capacity) {
        return Math.max(Math.max(1, capacity[2]) * PIECE_LENGTH, capacity[4]);
    }

    /** Pieces of a request to send that have place where so many inline bytes have. */
    static int pieces(int inlineLength) {
        return inlineLength / PIECE_LENGTH;
    }

    static int sendLength(int[] capacity) {
        return SEND_LENGTH + inlineLength(capacity);
    }

    static int receiveLength(int pieces) {
        return RECEIVE_LENGTH + Math.max(1, pieces) * PIECE_LENGTH;
    }
}
