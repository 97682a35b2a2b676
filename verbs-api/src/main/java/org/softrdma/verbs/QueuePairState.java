package org.softrdma.verbs;

/**
 * The states that an application sees. The connection manager moves a queue pair through them, or its owner
 * ({@link UnconnectedQueuePair}). In C they are INIT, RTR, RTS and ERR.
 */
public enum QueuePairState {
    /** Created and not connected yet: you may post RECVs. */
    INITIAL,
    /** Takes its peer's packets: you may still post RECVs only. A connection manager does not stop here. */
    READY_TO_RECEIVE,
    /** Connected: you may post everything. */
    READY_TO_SEND,
    /** Failed or disconnected: requests that you post are flushed. Closing is the only way out. */
    ERROR,
    /** Closed: you may post nothing. */
    CLOSED
}
