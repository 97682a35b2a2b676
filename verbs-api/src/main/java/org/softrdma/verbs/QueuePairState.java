package org.softrdma.verbs;

/** The states an application can see; the connection manager moves a queue pair through them. */
public enum QueuePairState {
    /** Created, not connected: RECVs may be posted. */
    INITIAL,
    /** Connected: everything may be posted. */
    READY_TO_SEND,
    /** Failed or disconnected: what is posted is flushed. Final. */
    ERROR,
    /** Closed: nothing may be posted. */
    CLOSED
}
