package org.softrdma.net.transport;

import java.net.SocketAddress;

/** A listening socket. */
public interface Acceptor {
    /** The actual address and port, as an {@link java.net.InetSocketAddress}; or the path of a Unix socket. */
    SocketAddress localAddress();

    /** Stops listening. On its event loop. Idempotent. */
    void close();
}
