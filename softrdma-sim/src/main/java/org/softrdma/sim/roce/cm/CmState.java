package org.softrdma.sim.roce.cm;

import java.util.EnumSet;
import java.util.Set;

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

    /** True if a connection may get from this state into another one. */
    boolean mayBecome(CmState next) {
        return followers().contains(next);
    }

    private Set<CmState> followers() {
        return switch (this) {
            case REQUEST_SENT -> EnumSet.of(REPLY_RECEIVED, TIME_WAIT);
            case REPLY_RECEIVED -> EnumSet.of(ESTABLISHED, REJECTED, TIME_WAIT);
            case REQUEST_RECEIVED -> EnumSet.of(REPLY_SENT, REJECTED, TIME_WAIT);
            case REPLY_SENT -> EnumSet.of(ESTABLISHED, TIME_WAIT);
            case ESTABLISHED -> EnumSet.of(DISCONNECT_SENT, TIME_WAIT);
            case DISCONNECT_SENT -> EnumSet.of(TIME_WAIT);
            case REJECTED, TIME_WAIT -> EnumSet.of(CLOSED);
            case CLOSED -> EnumSet.noneOf(CmState.class);
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
