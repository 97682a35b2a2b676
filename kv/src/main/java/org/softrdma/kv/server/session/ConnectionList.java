package org.softrdma.kv.server.session;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;

/** The connections to the memcached port, and where it listens. Any thread. */
public final class ConnectionList {
    private final KvService service;
    private final Set<Conversation> connections = ConcurrentHashMap.newKeySet();
    private volatile @Nullable SocketAddress listening;

    /** No connections yet. */
    public ConnectionList(KvService service) {
        this.service = service;
    }

    /** The port is open. */
    public void listening(SocketAddress address) {
        listening = address;
    }

    /** Where it listens, or null before that. */
    public @Nullable SocketAddress listening() {
        return listening;
    }

    void add(Conversation connection) {
        connections.add(connection);
    }

    void remove(Conversation connection) {
        connections.remove(connection);
    }

    /** The answer to {@code stats conns}; numbers where memcached has file descriptors, 0 for what listens. */
    byte[] describe(Conversation asking) {
        StringBuilder lines = new StringBuilder();
        lines.append("STAT 0:addr ").append(conventional(listening)).append("\r\n");
        lines.append("STAT 0:state conn_listening\r\n");
        long number = 1;
        for (Conversation connection : connections) {
            lines.append(connection.describe(number, connection == asking, this::conventional));
            number++;
        }
        lines.append(new String(TextProtocol.END, StandardCharsets.US_ASCII));
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** As memcached writes addresses; those of a Unix socket are all the same. */
    private String conventional(@Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress tcp) {
            String host = tcp.getAddress().getHostAddress();
            return tcp.getAddress() instanceof Inet6Address
                    ? "tcp6:[" + host + "]:" + tcp.getPort()
                    : "tcp:" + host + ":" + tcp.getPort();
        }
        return "unix:" + service.settings().port().unixSocket();
    }

    /** Closes connections that were idle for too long. */
    public void closeIdle() {
        int timeoutSeconds = service.settings().rules().idleTimeoutSeconds();
        if (timeoutSeconds > 0) {
            long since = service.nowSeconds() - timeoutSeconds;
            for (Conversation connection : connections) {
                connection.closeIfIdleSince(since);
            }
        }
    }
}
