package org.softrdma.sim.foreign;

/** The states of a queue pair (InfiniBand Architecture, section 10.3.1). */
public enum OwnedState {
    /** Nothing is set, and nothing can be posted. */
    RESET,
    /** RECVs can be posted. */
    INIT,
    /** Ready to receive: packets of the peer are served. */
    RTR,
    /** Ready to send: requests are sent. */
    RTS,
    /** The send queue is drained: what was begun is completed, and nothing more is begun. */
    SQD,
    /** A request has failed, and the send queue is flushed; RECVs go on. Unreliable transports only. */
    SQE,
    /** Both queues are flushed. */
    ERR;

    /** True if the owner may set a state after this one. ERR and RESET may always be set. */
    boolean allows(OwnedState next) {
        return switch (next) {
            case RESET, ERR -> true;
            case INIT -> this == RESET || this == INIT;
            case RTR -> this == INIT;
            case RTS -> this == RTR || this == RTS || this == SQD || this == SQE;
            case SQD -> this == RTS || this == SQD;
            case SQE -> false; // the device goes there by itself
        };
    }
}
