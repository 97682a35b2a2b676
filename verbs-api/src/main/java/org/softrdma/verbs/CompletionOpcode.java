package org.softrdma.verbs;

/** What a successful completion was (C: {@code enum ibv_wc_opcode}). */
public enum CompletionOpcode {
    /** A SEND that this side posted. */
    SEND,
    /** A WRITE that this side posted. */
    WRITE,
    /** A READ that this side posted. */
    READ,
    /** A RECV that a peer's SEND filled. */
    RECEIVE
}
