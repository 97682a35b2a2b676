package org.softrdma.sim.link;

import java.net.InetSocketAddress;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.QueuePairLimits;

/** The queue pair of a connection, as the connection sees it and changes its state. Engine thread only. */
public interface QueuePairEnd {
    /** Its number. Any thread. */
    int number();

    /** Its send queue. */
    SendQueue sendQueue();

    /** Its receive queue. */
    ReceiveQueue receiveQueue();

    /** Number of its protection domain in the stag table. */
    int domainNumber();

    /** The windows that are bound on it. */
    StreamWindows windows();

    /** Its requests that send nothing; once, after {@link #accepted}. */
    LocalRequests localRequests();

    /** Sizes of its queues. */
    QueuePairLimits limits();

    /** What the peer may do by whatever key: bits of {@link org.softrdma.sim.memory.AccessRights}. */
    int remoteRights();

    /** True in ERROR, and once it is closed. */
    boolean isInError();

    /** The reply that accepts the peer is about to be sent. */
    void accepting(InetSocketAddress local, InetSocketAddress remote);

    /** The peer has accepted; before {@link #established}. */
    void accepted(InetSocketAddress local, InetSocketAddress remote);

    /** Goes to READY_TO_RECEIVE, if its owner takes it from state to state. */
    void receiving();

    /** Goes to READY_TO_SEND. */
    void established(Agreement agreed);

    /** Other terms hold from now on. */
    void agreed(Agreement changed);

    /** All that was begun before it went to SEND_QUEUE_DRAIN is complete. */
    void drained();

    /**
     * Goes to SEND_QUEUE_ERROR, and flushes its send queue: a request cannot be sent.
     *
     * @param culprit sequence of the request that failed
     * @param status status of its completion
     */
    void sendQueueFailed(long culprit, CompletionStatus status);

    /** An access of the peer was refused, which is about to end the stream. */
    void accessRefused();

    /** The peer asked for what cannot be done, which is about to end the stream. */
    void requestRefused();

    /** This side has failed, which is about to end the stream. */
    void faulted();

    /**
     * Goes to ERROR and flushes; once.
     *
     * @param reason for messages
     * @param culprit sequence of the request that failed, or -1
     * @param status status of that request's completion
     * @param vendorCode more about it
     */
    void enterError(String reason, long culprit, CompletionStatus status, int vendorCode);

    /** Flushes what was posted in ERROR, or in SEND_QUEUE_ERROR. */
    void flush();
}
