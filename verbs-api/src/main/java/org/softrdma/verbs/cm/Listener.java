package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.util.Optional;

/** A place where peers connect (C: a listening {@code rdma_cm_id}). Thread-safe, except in manual progress. */
public interface Listener extends AutoCloseable {
    /** The address and port in force. */
    InetSocketAddress localAddress();

    /**
     * Waits for the next request. A peer whose handshake is broken or too slow never becomes one.
     *
     * @param timeoutNs how long to wait; 0 only looks
     * @return the request, which the caller accepts, rejects or closes; empty at the end of the time or once closed
     * @throws org.softrdma.verbs.VerbsException {@code INTERRUPTED} if the thread is interrupted
     */
    Optional<ConnectionRequest> next(long timeoutNs);

    /** True once {@link #close()} was called. */
    boolean isClosed();

    /** Stops listening; requests not yet taken are dropped. Connections already accepted stay. Idempotent. */
    @Override
    void close();
}
