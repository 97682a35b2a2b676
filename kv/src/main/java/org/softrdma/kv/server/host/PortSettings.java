package org.softrdma.kv.server.host;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where memcached clients connect, and how: a part of the server's settings.
 *
 * @param addresses the TCP ports, at least one; port 0 picks a free one
 * @param clear those of the addresses that are not encrypted even with TLS
 * @param unixSocket a Unix socket instead of the TCP ports, or null
 * @param unixSocketMask the rights of the Unix socket
 * @param backlog how many connections may wait to be accepted
 * @param threads the number of event loop threads
 * @param io how they do their I/O
 * @param tls certificates of the TCP port, or null if what passes is in the clear
 */
public record PortSettings(
        List<InetSocketAddress> addresses,
        Set<InetSocketAddress> clear,
        @Nullable Path unixSocket,
        int unixSocketMask,
        int backlog,
        int threads,
        Io io,
        @Nullable TlsSettings tls) {
    /** Keeps copies. */
    public PortSettings {
        addresses = List.copyOf(addresses);
        clear = Set.copyOf(clear);
    }

    /** The first TCP port. */
    public InetSocketAddress address() {
        return addresses.getFirst();
    }

    /** How the memcached port does its I/O. */
    public enum Io {
        /** io_uring where it works, otherwise epoll, otherwise NIO. */
        AUTO,
        /** io_uring. */
        URING,
        /** epoll. */
        EPOLL,
        /** Java's own. */
        NIO
    }
}
