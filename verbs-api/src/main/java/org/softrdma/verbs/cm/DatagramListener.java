package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;

/**
 * Tells peers that ask for it where the datagrams of a service go (C: a listening {@code rdma_cm_id} of {@code
 * RDMA_PS_UDP}, whose owner accepts every request). Thread-safe, except in manual progress.
 */
public interface DatagramListener extends AutoCloseable {
    /** The address and port in force, in the port space of datagrams. */
    InetSocketAddress localAddress();

    /** Answers nobody any more. The queue pair stays. Idempotent. */
    @Override
    void close();
}
