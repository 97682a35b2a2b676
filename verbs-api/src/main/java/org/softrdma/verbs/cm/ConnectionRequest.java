package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;

/**
 * A peer's wish to connect (C: {@code RDMA_CM_EVENT_CONNECT_REQUEST}): create the queue pair, post RECVs, accept; or reject.
 * Used once. Closing one that was neither accepted nor rejected rejects it. Rejecting takes its queue pair to ERROR.
 */
public interface ConnectionRequest extends AutoCloseable {
    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /** The private data of the request, perhaps empty; InfiniBand and RoCE pad it with zeros (rdma_get_cm_event(3)). */
    byte[] privateData();

    /** READs that the peer wants to have in flight; empty if the provider cannot tell. */
    OptionalInt peerOutboundReads();

    /** READs that the peer grants this side; empty if the provider cannot tell. */
    OptionalInt peerInboundReads();

    /**
     * Creates the queue pair to be connected (C: {@code rdma_create_qp}). Called once.
     *
     * @param domain a domain of the listening device
     * @param attributes its completion queues and sizes
     * @throws IllegalArgumentException naming the limit and the value asked for
     * @throws org.softrdma.verbs.VerbsException {@code NO_RESOURCES} if there is not enough memory for these sizes
     */
    QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes);

    /**
     * Accepts (C: {@code rdma_accept}). When it returns, this side's reply has gone and the queue pair takes requests: it is
     * READY_TO_SEND, or in ERROR if the peer has gone already. It does not wait for the peer
     * ({@code RDMA_CM_EVENT_ESTABLISHED}), so a peer that says nothing more holds up nobody: completions tell how it goes on.
     * On iWARP the peer has to send first. What is posted before that waits; a device that cannot wait needs it posted later
     * (docs/reference/verbs-mapping.md). A peer that does not do its part of the handshake in time takes the queue pair
     * to ERROR, which flushes it.
     *
     * @param parameters what this side wants
     * @throws org.softrdma.verbs.VerbsException {@code CONNECTION_LOST} or what else the device says, if the reply cannot go; the
     *     queue pair is in ERROR then
     * @throws IllegalArgumentException if the private data is too long; nothing was sent
     * @throws IllegalStateException without a queue pair in state INITIAL, or if the request was answered before
     */
    void accept(ConnectionParameters parameters);

    /**
     * Rejects (C: {@code rdma_reject}).
     *
     * @param privateData tells the peer why, at most {@link org.softrdma.verbs.Capabilities#maxPrivateData()} bytes
     */
    void reject(byte[] privateData);

    /** Rejects a request that was neither accepted nor rejected. Idempotent. */
    @Override
    void close();
}
