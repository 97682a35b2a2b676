package org.softrdma.verbs.cm;

import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;

/**
 * The active side of a connection to be made: create the queue pair, post RECVs, connect. Used once.
 *
 * <p>Closing a connector that has connected does nothing: the queue pair lives on. Closing one that has not takes its queue
 * pair to ERROR. Connector and queue pair are both closed by their user, in either order (C: {@code rdma_cm_id}).
 */
public interface Connector extends AutoCloseable {
    /**
     * Creates the queue pair to be connected (C: {@code rdma_create_qp}). Called once.
     *
     * @param domain a domain of the device that made this connector
     * @param attributes its completion queues and sizes
     * @throws IllegalArgumentException naming the limit and the value asked for
     * @throws org.softrdma.verbs.VerbsException {@code NO_RESOURCES} if there is not enough memory for these sizes
     */
    QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes);

    /**
     * Connects and waits until both ends are ready (C: {@code rdma_connect}, {@code RDMA_CM_EVENT_ESTABLISHED}).
     *
     * @param parameters what this side wants
     * @param timeoutNs how long it may take
     * @return the private data of the peer's accept, perhaps empty
     * @throws ConnectionRejectedException if the peer rejected
     * @throws org.softrdma.verbs.VerbsException {@code UNREACHABLE}, {@code TIMED_OUT}, {@code PROTOCOL}, {@code
     *     CONNECTION_LOST}, {@code INTERRUPTED}; the queue pair is in ERROR then
     * @throws IllegalArgumentException if the private data is too long; nothing was sent
     * @throws IllegalStateException without a queue pair in state INITIAL
     */
    byte[] connect(ConnectionParameters parameters, long timeoutNs);

    /** Gives up a connection that was not made. Idempotent. */
    @Override
    void close();
}
