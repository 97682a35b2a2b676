package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;

/**
 * The active side of a connection (C: {@code rdma_cm_id}): create the queue pair, post RECVs, connect. Used once.
 *
 * <p>Close both the connector and its queue pair, in either order. Closing a connector that has connected leaves the
 * queue pair as it is; closing one that has not takes the queue pair to ERROR.
 */
public interface Connector extends AutoCloseable {
    /**
     * Creates the queue pair of this connection (C: {@code rdma_create_qp}). Call it once.
     *
     * @param domain a domain of the device that made this connector
     * @param attributes its completion queues and sizes
     * @throws IllegalArgumentException if a size is over a limit; the message names both
     * @throws org.softrdma.verbs.VerbsException {@code NO_RESOURCES} if there is not enough memory for these sizes
     */
    QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes);

    /**
     * Connects and waits until both ends are ready (C: {@code rdma_connect}, {@code RDMA_CM_EVENT_ESTABLISHED}).
     *
     * @param parameters what this side wants
     * @param timeoutNs how long it may take
     * @return the private data of the peer's accept; empty if none
     * @throws ConnectionRejectedException if the peer rejected
     * @throws org.softrdma.verbs.VerbsException {@code UNREACHABLE}, {@code TIMED_OUT}, {@code PROTOCOL}, {@code
     *     CONNECTION_LOST}, {@code INTERRUPTED}, {@code NO_RESOURCES} if no descriptor or no port is left; then the queue
     *     pair is in ERROR
     * @throws IllegalArgumentException if the private data is too long; then nothing was sent
     * @throws IllegalStateException if there is no queue pair in state INITIAL
     */
    byte[] connect(ConnectionParameters parameters, long timeoutNs);

    /**
     * The address and port of this end of the connection, as the peer sees it without address translation (C: {@code
     * rdma_get_local_addr}).
     *
     * @return empty before {@link #connect} has returned, and if the device does not report it
     */
    default Optional<InetSocketAddress> localAddress() {
        return Optional.empty();
    }

    /** Abandons the connection attempt if it has not connected. Idempotent. */
    @Override
    void close();
}
