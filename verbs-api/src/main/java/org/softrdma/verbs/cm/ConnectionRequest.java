package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;

/**
 * A peer's request to connect (C: {@code RDMA_CM_EVENT_CONNECT_REQUEST}). Either create the queue pair, post RECVs and
 * accept; or reject. Used once. Closing a request that was neither accepted nor rejected rejects it. Rejecting takes
 * its queue pair to ERROR.
 */
public interface ConnectionRequest extends AutoCloseable {
    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /**
     * The private data of the request; empty if none. InfiniBand and RoCE pad it with zeros (rdma_get_cm_event(3)).
     */
    byte[] privateData();

    /** READs that the peer wants to have in flight; empty if the provider cannot tell. */
    OptionalInt peerOutboundReads();

    /** READs in flight that the peer grants this side; empty if the provider cannot tell. */
    OptionalInt peerInboundReads();

    /**
     * Creates the queue pair of this connection (C: {@code rdma_create_qp}). Call it once.
     *
     * @param domain a domain of the listening device
     * @param attributes its completion queues and sizes
     * @throws IllegalArgumentException if a size is over a limit; the message names both
     * @throws org.softrdma.verbs.VerbsException {@code NO_RESOURCES} if there is not enough memory for these sizes
     */
    QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes);

    /**
     * Accepts (C: {@code rdma_accept}). When this returns, the reply is sent and the queue pair takes requests: it is
     * READY_TO_SEND, or in ERROR if the peer is gone already.
     *
     * <p>It does not wait for the peer ({@code RDMA_CM_EVENT_ESTABLISHED}), so a silent peer blocks no thread. If the
     * peer does not finish the handshake in time, the queue pair goes to ERROR and flushes its requests. On iWARP the
     * peer has to send first; requests that you post before that wait, or on a device that cannot hold them you have to
     * post them later (docs/reference/verbs-mapping.md).
     *
     * @param parameters what this side wants
     * @throws org.softrdma.verbs.VerbsException {@code CONNECTION_LOST}, or another code of the device, if the reply
     *     cannot be sent; then the queue pair is in ERROR
     * @throws IllegalArgumentException if the private data is too long; then nothing was sent
     * @throws IllegalStateException if there is no queue pair in state INITIAL, or if the request was answered before
     */
    void accept(ConnectionParameters parameters);

    /**
     * Rejects (C: {@code rdma_reject}).
     *
     * @param privateData sent to the peer, at most {@link org.softrdma.verbs.Capabilities#maxPrivateData()} bytes
     */
    void reject(byte[] privateData);

    /** Rejects the request if it was neither accepted nor rejected. Idempotent. */
    @Override
    void close();
}
