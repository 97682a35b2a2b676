package org.softrdma.kv.server.session;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.host.ServerPort;

/** The connections to the memcached port, and where it listens. Any thread. */
public final class ConnectionList {
    private final KvService service;
    private final Set<Conversation> connections = ConcurrentHashMap.newKeySet();
    private volatile @Nullable ServerPort port;

    /** No connections yet. */
    public ConnectionList(KvService service) {
        this.service = service;
    }

    /** The port is open. */
    public void listening(ServerPort open) {
        port = open;
    }

    /** Where it listens; nowhere before that. */
    public List<SocketAddress> listening() {
        ServerPort open = port;
        return open == null ? List.of() : open.localAddresses();
    }

    /** TLS of the port, or null if it has none. */
    public @Nullable PortSecurity security() {
        ServerPort open = port;
        return open == null ? null : open.security();
    }

    /**
     * Asks each connection to end once it has answered what has come.
     *
     * @return true if there is none
     */
    public boolean drain() {
        connections.forEach(Conversation::drain);
        return connections.isEmpty();
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
        for (SocketAddress each : listening()) {
            lines.append("STAT 0:addr ").append(conventional(each)).append("\r\n");
            lines.append("STAT 0:state conn_listening\r\n");
        }
        connections.stream()
                .sorted(Comparator.comparingLong(Conversation::number))
                .map(connection -> connection.describe(connection == asking, this::conventional))
                .forEach(lines::append);
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
