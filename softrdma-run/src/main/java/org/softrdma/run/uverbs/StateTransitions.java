package org.softrdma.run.uverbs;

import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/**
 * Which states follow which, and with which attributes: Linux's {@code ib_modify_qp_is_ok}, which SoftRoCE asks. States and bits are
 * numbered as verbs do.
 */
final class StateTransitions {
    static final int RESET = 0;
    static final int INIT = 1;
    static final int RTR = 2;
    static final int RTS = 3;
    static final int SQD = 4;
    static final int SQE = 5;
    static final int ERR = 6;

    static final int STATE = 1;
    static final int CURRENT_STATE = 1 << 1;
    static final int DRAINED_EVENT = 1 << 2;
    static final int ACCESS = 1 << 3;
    static final int PARTITION_KEY = 1 << 4;
    static final int PORT = 1 << 5;
    static final int QUEUE_KEY = 1 << 6;
    static final int PATH = 1 << 7;
    static final int TRANSFER_UNIT = 1 << 8;
    static final int TIMEOUT = 1 << 9;
    static final int RETRIES = 1 << 10;
    static final int RNR_RETRIES = 1 << 11;
    static final int RECEIVE_PSN = 1 << 12;
    static final int READS = 1 << 13;
    static final int OTHER_PATH = 1 << 14;
    static final int RNR_TIMER = 1 << 15;
    static final int SEND_PSN = 1 << 16;
    static final int SERVED_READS = 1 << 17;
    static final int MIGRATION = 1 << 18;
    static final int CAPACITY = 1 << 19;
    static final int PEER = 1 << 20;

    private static final int RELIABLE = 2;
    private static final int DATAGRAMS = 4;

    private static final int PATH_OF_CONNECTION = PATH | TRANSFER_UNIT | PEER | RECEIVE_PSN;
    private static final int CHANGEABLE = CURRENT_STATE | OTHER_PATH | ACCESS | MIGRATION;
    private static final int ILLEGAL = -1;

    private StateTransitions() {}

    /**
     * Checks one.
     *
     * @param type of the queue pair
     * @param from its state
     * @param to the state that it is to have, which may be the same
     * @param mask attributes that are given
     * @throws CallRefusedException if Linux refuses it
     */
    static void check(int type, int from, int to, int mask) throws CallRefusedException {
        int required = required(type, from, to);
        int allowed = required | optional(type, from, to) | STATE;
        if (required == ILLEGAL || (mask & required) != required || (mask & ~allowed) != 0) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    private static int required(int type, int from, int to) {
        if (to == RESET || to == ERR) {
            return from == RESET && to == ERR ? ILLEGAL : 0;
        }
        return switch (from) {
            case RESET -> to == INIT ? PARTITION_KEY | PORT | (type == DATAGRAMS ? QUEUE_KEY : ACCESS) : ILLEGAL;
            case INIT -> to == INIT ? 0 : to == RTR ? requiredToReceive(type) : ILLEGAL;
            case RTR -> to == RTS ? requiredToSend(type) : ILLEGAL;
            case RTS -> to == RTS || to == SQD ? 0 : ILLEGAL;
            case SQD -> to == RTS || to == SQD ? 0 : ILLEGAL;
            case SQE -> to == RTS && type != RELIABLE ? 0 : ILLEGAL;
            default -> ILLEGAL;
        };
    }

    private static int requiredToReceive(int type) {
        return switch (type) {
            case DATAGRAMS -> 0;
            case RELIABLE -> PATH_OF_CONNECTION | SERVED_READS | RNR_TIMER;
            default -> PATH_OF_CONNECTION;
        };
    }

    private static int requiredToSend(int type) {
        return type == RELIABLE ? SEND_PSN | TIMEOUT | RETRIES | RNR_RETRIES | READS : SEND_PSN;
    }

    private static int optional(int type, int from, int to) {
        if (to == RESET || to == ERR) {
            return 0;
        }
        if (to == INIT) {
            return PARTITION_KEY | PORT | (type == DATAGRAMS ? QUEUE_KEY : ACCESS);
        }
        if (to == RTR) {
            return type == DATAGRAMS ? PARTITION_KEY | QUEUE_KEY : OTHER_PATH | ACCESS | PARTITION_KEY;
        }
        if (to == RTS) {
            return switch (type) {
                case DATAGRAMS -> CURRENT_STATE | QUEUE_KEY;
                case RELIABLE -> CHANGEABLE | RNR_TIMER;
                default -> from == SQE ? CURRENT_STATE | ACCESS : CHANGEABLE;
            };
        }
        if (from == RTS) {
            return DRAINED_EVENT;
        }
        return switch (type) {
            case DATAGRAMS -> PARTITION_KEY | QUEUE_KEY;
            case RELIABLE ->
                PORT
                        | PATH
                        | TIMEOUT
                        | RETRIES
                        | RNR_RETRIES
                        | READS
                        | SERVED_READS
                        | OTHER_PATH
                        | ACCESS
                        | PARTITION_KEY
                        | RNR_TIMER
                        | MIGRATION;
            default -> PATH | OTHER_PATH | ACCESS | PARTITION_KEY | MIGRATION;
        };
    }
}
