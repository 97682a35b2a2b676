package org.softrdma.kv.server.host;

import java.net.SocketAddress;

/** An open memcached port. */
public interface ServerPort extends AutoCloseable {
    /** Where it listens. */
    SocketAddress localAddress();

    /** Ends all connections and their threads: when this returns nobody uses the store any more. */
    @Override
    void close();
}
