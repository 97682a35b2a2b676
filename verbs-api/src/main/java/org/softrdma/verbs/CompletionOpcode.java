package org.softrdma.verbs;

/** The operation that a successful completion reports (C: {@code enum ibv_wc_opcode}). */
public enum CompletionOpcode {
    /** A SEND of any kind that this side posted. */
    SEND,
    /** A WRITE that this side posted, with or without an immediate. */
    WRITE,
    /** A READ that this side posted. */
    READ,
    /** A compare-and-swap that this side posted. */
    COMPARE_AND_SWAP,
    /** A fetch-and-add that this side posted. */
    FETCH_AND_ADD,
    /** The invalidation of a window by this side. */
    INVALIDATE,
    /** The bind of a window by this side. */
    BIND_WINDOW,
    /** A RECV that a peer's SEND filled. */
    RECEIVE,
    /** A RECV that a peer's WRITE with immediate consumed (C: {@code IBV_WC_RECV_RDMA_WITH_IMM}). */
    RECEIVE_WRITE_IMMEDIATE;

    /** True if it completes a RECV. */
    public boolean isReceive() {
        return this == RECEIVE || this == RECEIVE_WRITE_IMMEDIATE;
    }

    /** True if its completion has the number of bytes moved. */
    public boolean hasByteLength() {
        return this == READ || this == COMPARE_AND_SWAP || this == FETCH_AND_ADD || isReceive();
    }
}
