package org.softrdma.sim.roce;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionStatus;

/**
 * One end of a transport, as its queue pair's {@link RoceConnection} drives it: what it sends, and what becomes of the
 * peer's packets. After each call {@link #isOver} says whether the queue pair has to go to error, and why. Inside a batch.
 */
interface TransportEnd {
    /** Requests may be sent from now on. */
    void allowRequests();

    /**
     * Asks the peer whether it is there, with the next packets: it acknowledges an empty WRITE, even one that it has
     * executed before.
     *
     * @return false if there is no need: a timeout watches what is on its way, or the peer is not known to be ready; or if
     *     peers of this transport do not answer
     */
    boolean ask();

    /** No request is begun from now on; what was begun goes on. */
    void drain();

    /** Requests are begun again, after {@link #drain} or after one of them could not be sent. */
    void resume();

    /** True if no request is begun and not complete. */
    boolean isDrained();

    /** No request is executed or sent any more. */
    void abandonRequests();

    /** A packet of the peer, which was checked, at one of the queue pair's ports. */
    void received(Arrival arrival, long packet, int length, long nowNs);

    /**
     * Adds packets that are due.
     *
     * @return true if there may be more
     */
    boolean fill(PacketStage stage, long nowNs);

    /** When {@link #onTime} is due. */
    long deadlineNs();

    /** Time has passed. */
    void onTime(long nowNs);

    /** True if the queue pair has to go to error. */
    boolean isOver();

    /** Status of the request that has failed; null if it was one of the peer. */
    @Nullable
    CompletionStatus failure();

    /** Sequence of the request that has failed, or -1. */
    long culprit();

    /** True if it was for an access that a request of the peer was refused. */
    boolean isAccessRefused();
}
