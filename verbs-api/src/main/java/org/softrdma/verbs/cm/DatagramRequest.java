package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;

/**
 * A peer's question where the datagrams of a service go (C: {@code RDMA_CM_EVENT_CONNECT_REQUEST} of {@code
 * RDMA_PS_UDP}). Accepted or rejected once. Closing one that was neither accepted nor rejected rejects it.
 */
public interface DatagramRequest extends AutoCloseable {
    /** The peer's address; its port is that of its question, not one for datagrams. */
    InetSocketAddress remoteAddress();

    /** The private data of the question; zeros may follow those that were sent (rdma_get_cm_event(3)). */
    byte[] privateData();

    /**
     * Tells the peer where to send (C: {@code rdma_accept}).
     *
     * @param offered number and queue key of the queue pair, and private data, as of {@link
     *     org.softrdma.verbs.device.VerbsDevice#listenForDatagrams}
     * @throws IllegalStateException if it was accepted, rejected or closed before
     * @throws IllegalArgumentException if the private data is too long; then nothing was sent
     * @throws org.softrdma.verbs.VerbsException {@code NOT_SUPPORTED} for a queue key that the device cannot tell of, or
     *     another code of the device if the answer cannot be sent
     */
    void accept(DatagramService offered);

    /**
     * Refuses (C: {@code rdma_reject}).
     *
     * @param privateData sent to the peer, at most {@link org.softrdma.verbs.Capabilities#maxPrivateData()} bytes
     * @throws IllegalStateException if it was accepted, rejected or closed before
     */
    void reject(byte[] privateData);

    /** Rejects it if it was neither accepted nor rejected. Idempotent. */
    @Override
    void close();
}
