package org.softrdma.kv.server.host;

import java.net.SocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An open memcached port. */
public interface ServerPort extends AutoCloseable {
    /** Where it listens; the first place, if there are several. */
    SocketAddress localAddress();

    /** Everywhere it listens. */
    default List<SocketAddress> localAddresses() {
        return List.of(localAddress());
    }

    /** Takes no further connections. Those that are there go on. */
    void stopAccepting();

    /** Its TLS, or null if what passes is in the clear. */
    default @Nullable PortSecurity security() {
        return null;
    }

    /** Ends all connections and their threads: when this returns nobody uses the store any more. */
    @Override
    void close();
}
