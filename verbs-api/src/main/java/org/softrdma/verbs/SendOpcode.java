package org.softrdma.verbs;

/** What a send work request does (C: {@code enum ibv_wr_opcode}). */
public enum SendOpcode {
    /** Fills the peer's next RECV. */
    SEND,
    /** Writes into the peer's memory. */
    WRITE,
    /** Reads from the peer's memory. */
    READ
}
