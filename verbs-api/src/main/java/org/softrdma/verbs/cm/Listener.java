package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.util.Optional;

/** Takes connection requests of peers (C: a listening {@code rdma_cm_id}). Thread-safe, except in manual progress. */
public interface Listener extends AutoCloseable {
    /** The address and port in force. */
    InetSocketAddress localAddress();

    /**
     * Waits for the next request. A peer with a broken or slow handshake never becomes a request.
     *
     * @param timeoutNs how long to wait; 0 returns at once
     * @return the request, for you to accept, reject or close; empty if none came in time, or if the listener is
     *     closed
     * @throws org.softrdma.verbs.VerbsException {@code INTERRUPTED} if the thread is interrupted
     */
    Optional<ConnectionRequest> next(long timeoutNs);

    /** True once {@link #close()} was called. */
    boolean isClosed();

    /** Stops listening and drops the requests that were not taken. Accepted connections stay. Idempotent. */
    @Override
    void close();
}
