package org.softrdma.kv.server;

import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.PinnedItem;

/**
 * The commands of one connection that concern its queue pair. Owned by the thread of the connection, except for {@link
 * #bind} and {@link #unbind}.
 */
final class RdmaCommands {
    private static final byte[] CLOSED_QUEUE_PAIR = TextProtocol.line("CLIENT_ERROR no queue pair");
    private static final byte[] UNKNOWN_VERSION =
            TextProtocol.line("CLIENT_ERROR rdma version not supported, expected " + HelloDescriptor.VERSION);

    private final KvServer server;
    private final ServerCounters counters;
    private final MemcachedConnection connection;
    private @Nullable String token;

    /** Set and cleared by the completion thread of the RDMA port, used by the thread of the connection. */
    private volatile @Nullable RdmaSession session;

    RdmaCommands(KvServer server, MemcachedConnection connection) {
        this.server = server;
        this.counters = server.counters();
        this.connection = connection;
    }

    boolean isBound() {
        return session != null;
    }

    /** A queue pair showed our token. By the completion thread. */
    void bind(RdmaSession bound) {
        session = bound;
        if (!connection.isActive()) {
            bound.disconnect();
        }
    }

    /** The queue pair is gone. By the completion thread. */
    void unbind(RdmaSession bound) {
        if (session == bound) {
            session = null;
        }
    }

    /** {@code rdma hello}; true if this client now knows where to connect. */
    boolean hello(TextRequest request) {
        if (!request.argument(2).equals(Integer.toString(HelloDescriptor.VERSION))) {
            connection.reply(UNKNOWN_VERSION);
            return false;
        }
        forgetToken();
        RdmaSession old = session;
        if (old != null) {
            old.disconnect();
        }
        String fresh = server.rdmaPort().newToken(connection);
        token = fresh;
        connection.reply(server.helloLine(fresh));
        return true;
    }

    /** {@code rget}. */
    void get(TextRequest request) {
        RdmaSession bound = session;
        if (bound == null) {
            connection.reply(CLOSED_QUEUE_PAIR);
            return;
        }
        long nowSeconds = server.nowSeconds();
        PinnedItem item = server.store().pin(request.bytes(), request.keyOffset(0), request.keyLength(0), nowSeconds);
        RdmaSession.AnswerStatus status = bound.answer(
                connection, item, request.rkey(), request.address(), request.length(), request.opaque(), nowSeconds);
        if (status == RdmaSession.AnswerStatus.POSTED) {
            (item.isPresent() ? counters.rgetHits : counters.rgetMisses).increment();
            return;
        }
        if (item.isPresent()) {
            server.store().unpin(item);
        }
        if (status == RdmaSession.AnswerStatus.FULL) {
            connection.continueLater(() -> get(request));
            connection.suspend();
        } else {
            connection.reply(CLOSED_QUEUE_PAIR);
        }
    }

    /** The connection ends. */
    void release() {
        forgetToken();
        RdmaSession bound = session;
        if (bound != null) {
            bound.disconnect();
        }
    }

    private void forgetToken() {
        if (token != null) {
            server.rdmaPort().forget(token);
            token = null;
        }
    }
}
