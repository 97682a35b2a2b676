package org.softrdma.verbs;

/**
 * The states that an application sees. The connection manager moves a queue pair through them, or {@link
 * UnconnectedQueuePair#connect}. A device has more of them (C: RESET, INIT, RTR, RTS), which are its own affair.
 */
public enum QueuePairState {
    /** Created and not connected yet: you may post RECVs. */
    INITIAL,
    /** Connected: you may post everything. */
    READY_TO_SEND,
    /** Failed or disconnected: requests that you post are flushed. Closing is the only way out. */
    ERROR,
    /** Closed: you may post nothing. */
    CLOSED
}
