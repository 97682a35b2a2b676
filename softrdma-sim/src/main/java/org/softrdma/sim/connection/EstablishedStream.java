package org.softrdma.sim.connection;

import org.softrdma.sim.carrier.MpaInbound;
import org.softrdma.sim.carrier.MpaOutbound;
import org.softrdma.sim.rdmap.RdmapStream;
import org.softrdma.sim.wire.TerminateCause;

/**
 * A stream after its handshake: its messages, and how their bytes are sent and received. Engine thread only.
 *
 * @param messages of both directions
 * @param out sends segments
 * @param in receives segments
 * @param readyRepeat repeats this side's ready-to-receive
 */
record EstablishedStream(RdmapStream messages, MpaOutbound out, MpaInbound in, ReadyRepeat readyRepeat) {
    /** Requests of the send queue may be sent from now on. */
    void allowRequests() {
        messages.outgoing().allowRequests();
    }

    /** Sends a ready-to-receive next. */
    void sendReadyToReceive() {
        messages.outgoing().sendReadyToReceive();
    }

    /** True if no response and no Terminate is left to send. */
    boolean isDone() {
        return out.isIdle() && !messages.outgoing().isTerminateStaged();
    }

    /** True if there are requests that send nothing for another turn, for which the socket need not be ready. */
    boolean isLocalLeft() {
        return !out.isUnderWay() && messages.outgoing().isLocalLeft(); // else it goes on when that is sent
    }

    /** Abandons the requests of the send queue: their memory belongs to the application again. */
    void abandonRequests() {
        out.settle();
        messages.outgoing().abandonRequests();
        out.copyRequest();
    }

    /** Queues a Terminate, unless one is queued already. */
    void queueTerminate(TerminateCause cause, long segment) {
        if (!messages.outgoing().isTerminating()) {
            abandonRequests();
            messages.outgoing().queueTerminate(cause, segment);
        }
    }

    /** Abandons everything that has not been sent. */
    void discardUnsent() {
        messages.outgoing().abandonAll();
        out.discard();
    }
}
