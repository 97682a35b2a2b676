package org.softrdma.kv.server.host;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where memcached clients connect, and how: a part of the server's settings.
 *
 * @param address the TCP port; port 0 picks a free one
 * @param unixSocket a Unix socket instead of the TCP port, or null
 * @param unixSocketMask the rights of the Unix socket
 * @param backlog how many connections may wait to be accepted
 * @param threads the number of event loop threads
 * @param io how they do their I/O
 */
public record PortSettings(
        InetSocketAddress address, @Nullable Path unixSocket, int unixSocketMask, int backlog, int threads, Io io) {
    /** How the memcached port does its I/O. */
    public enum Io {
        /** epoll where it works, otherwise NIO. */
        AUTO,
        /** epoll. */
        EPOLL,
        /** Java's own. */
        NIO
    }
}
