package org.softrdma.verbs;

/**
 * The states of a queue pair (IBTA 10.3.1). A connection manager moves it from INITIAL to READY_TO_SEND; its owner moves
 * it through all of them, if it has no connection manager ({@link UnconnectedQueuePair}).
 */
public enum QueuePairState {
    /** Its owner has taken it back to the beginning: you may post nothing (C: {@code IBV_QPS_RESET}). */
    RESET,
    /** Created and not connected yet: you may post RECVs (C: {@code IBV_QPS_INIT}). */
    INITIAL,
    /**
     * Takes its peer's packets: you may still post RECVs only (C: {@code IBV_QPS_RTR}). A connection manager does not stop
     * here.
     */
    READY_TO_RECEIVE,
    /** Connected: you may post everything (C: {@code IBV_QPS_RTS}). */
    READY_TO_SEND,
    /**
     * Begins no send work request: you may post everything, and what you post waits (C: {@code IBV_QPS_SQD}). RECVs go
     * on.
     */
    SEND_QUEUE_DRAIN,
    /**
     * A send work request has failed: others are flushed, while RECVs go on (C: {@code IBV_QPS_SQE}). Of unreliable types
     * only.
     */
    SEND_QUEUE_ERROR,
    /** Failed or disconnected: requests that you post are flushed (C: {@code IBV_QPS_ERR}). */
    ERROR,
    /** Closed: you may post nothing. */
    CLOSED
}
