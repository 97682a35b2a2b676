package org.softrdma.ibverbs.device;

import org.softrdma.verbs.CompletionOpcode;

/** The numbers of {@code enum ibv_wc_opcode} and {@code enum ibv_wc_flags}. */
public final class CompletionCodes {
    /** {@code IBV_WC_SEND}. */
    public static final int SEND = 0;
    /** {@code IBV_WC_RDMA_WRITE}. */
    public static final int WRITE = 1;
    /** {@code IBV_WC_RDMA_READ}. */
    public static final int READ = 2;
    /** {@code IBV_WC_COMP_SWAP}. */
    public static final int COMPARE_AND_SWAP = 3;
    /** {@code IBV_WC_FETCH_ADD}. */
    public static final int FETCH_AND_ADD = 4;
    /** {@code IBV_WC_BIND_MW}. */
    public static final int BIND_WINDOW = 5;
    /** {@code IBV_WC_LOCAL_INV}. */
    public static final int INVALIDATE = 6;
    /** {@code IBV_WC_RECV}. */
    public static final int RECEIVE = 1 << 7;
    /** {@code IBV_WC_RECV_RDMA_WITH_IMM}. */
    public static final int RECEIVE_WRITE_IMMEDIATE = RECEIVE + 1;

    /** {@code IBV_WC_GRH}: a datagram's routing header is in front of it. */
    public static final int WITH_ROUTING_HEADER = 1;
    /** {@code IBV_WC_WITH_IMM}: the message carried an immediate. */
    public static final int WITH_IMMEDIATE = 1 << 1;
    /** {@code IBV_WC_WITH_INV}: the message has invalidated a key. */
    public static final int WITH_INVALIDATED_KEY = 1 << 3;

    private CompletionCodes() {}

    /** What a send work request was. */
    static CompletionOpcode ofSend(int opcode) {
        return switch (opcode) {
            case READ -> CompletionOpcode.READ;
            case WRITE -> CompletionOpcode.WRITE;
            case COMPARE_AND_SWAP -> CompletionOpcode.COMPARE_AND_SWAP;
            case FETCH_AND_ADD -> CompletionOpcode.FETCH_AND_ADD;
            case BIND_WINDOW -> CompletionOpcode.BIND_WINDOW;
            case INVALIDATE -> CompletionOpcode.INVALIDATE;
            default -> CompletionOpcode.SEND;
        };
    }

    /** What a RECV was; its opcode is known only with the flags of an immediate. */
    static CompletionOpcode ofReceive(int opcode, int flags) {
        return (flags & WITH_IMMEDIATE) != 0 && opcode == RECEIVE_WRITE_IMMEDIATE
                ? CompletionOpcode.RECEIVE_WRITE_IMMEDIATE
                : CompletionOpcode.RECEIVE;
    }
}
