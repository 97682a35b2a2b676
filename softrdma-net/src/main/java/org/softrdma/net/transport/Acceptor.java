package org.softrdma.net.transport;

import java.net.InetSocketAddress;

/** A listening socket. */
public interface Acceptor {
    /** The actual address and port. */
    InetSocketAddress localAddress();

    /** Stops listening. On its event loop. Idempotent. */
    void close();
}
