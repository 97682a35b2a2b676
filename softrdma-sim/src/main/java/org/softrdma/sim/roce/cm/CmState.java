package org.softrdma.sim.roce.cm;

/**
 * Where a connection is.
 *
 * <pre>
 *   active side                                  passive side
 *   REQUEST_SENT      REP: REPLY_RECEIVED        REQUEST_RECEIVED   accepted, REP: REPLY_SENT
 *                     REJ, too late: TIME_WAIT                      refused, REJ: REJECTED
 *   REPLY_RECEIVED    ready, RTU: ESTABLISHED                       REJ: TIME_WAIT
 *                     refused, REJ: REJECTED     REPLY_SENT         RTU, or the connection is used: ESTABLISHED
 *                     REJ: TIME_WAIT                                REJ, too late, DREQ: TIME_WAIT
 *
 *   both sides
 *   ESTABLISHED       DREQ sent: DISCONNECT_SENT; DREQ or REJ received: TIME_WAIT
 *   DISCONNECT_SENT   DREP, DREQ, REJ, too late: TIME_WAIT
 *   TIME_WAIT         over: CLOSED. Answers messages that are repeated
 *   REJECTED          as TIME_WAIT
 * </pre>
 */
public enum CmState {
    /** Active: a REQ was sent. */
    REQUEST_SENT,
    /** Active: a REP has come; the queue pair is to be made ready. */
    REPLY_RECEIVED,
    /** Passive: a REQ has come; the application is to decide. */
    REQUEST_RECEIVED,
    /** Passive: a REP was sent. */
    REPLY_SENT,
    /** The connection stands. */
    ESTABLISHED,
    /** A DREQ was sent. */
    DISCONNECT_SENT,
    /** This side has refused. */
    REJECTED,
    /** It has ended, and is remembered. */
    TIME_WAIT,
    /** It is forgotten. */
    CLOSED;

    /** True if a connection may get from this state into another one. Makes nothing: an end needs no memory. */
    boolean mayBecome(CmState next) {
        return switch (this) {
            case REQUEST_SENT -> next == REPLY_RECEIVED || next == TIME_WAIT;
            case REPLY_RECEIVED -> next == ESTABLISHED || next == REJECTED || next == TIME_WAIT;
            case REQUEST_RECEIVED -> next == REPLY_SENT || next == REJECTED || next == TIME_WAIT;
            case REPLY_SENT -> next == ESTABLISHED || next == TIME_WAIT;
            case ESTABLISHED -> next == DISCONNECT_SENT || next == TIME_WAIT;
            case DISCONNECT_SENT -> next == TIME_WAIT;
            case REJECTED, TIME_WAIT -> next == CLOSED;
            case CLOSED -> false;
        };
    }

    /** True while the connection is being made. */
    boolean isConnecting() {
        return this == REQUEST_SENT || this == REPLY_RECEIVED || this == REQUEST_RECEIVED || this == REPLY_SENT;
    }

    /** True if nothing becomes of it any more. */
    boolean isOver() {
        return this == REJECTED || this == TIME_WAIT || this == CLOSED;
    }
}
