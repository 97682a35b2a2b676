package org.softrdma.kv.server;

import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.store.PinnedItem;

/**
 * The commands of one connection that concern its queue pair. Owned by the thread of the connection, except for {@link
 * #bind} and {@link #unbind}.
 */
final class RdmaCommands {
    private static final byte[] CLOSED_QUEUE_PAIR = TextProtocol.line("CLIENT_ERROR no queue pair");
    private static final byte[] WRONG_KEYS =
            TextProtocol.line("CLIENT_ERROR rdma refused, this connection used too many wrong keys");
    private static final int LONGEST_VERSION = 9;

    private final KvServer server;
    private final ServerCounters counters;
    private final MemcachedConnection connection;
    private @Nullable String token;

    /** The connection has ended. */
    private volatile boolean released;

    /** Counted by the completion thread of the RDMA port. */
    private final AtomicInteger wrongKeys = new AtomicInteger();

    /** Set and cleared by threads of the RDMA port, used by the thread of the connection. */
    private final AtomicReference<@Nullable RdmaSession> session = new AtomicReference<>();

    RdmaCommands(KvServer server, MemcachedConnection connection) {
        this.server = server;
        this.counters = server.counters();
        this.connection = connection;
    }

    boolean isBound() {
        return session.get() != null;
    }

    /** A queue pair showed our token. One that another token of ours brought is ended. By a thread of the RDMA port. */
    void bind(RdmaSession bound) {
        RdmaSession other = session.getAndSet(bound);
        if (other != null) {
            other.disconnect();
        }
        if (released) { // which is set before the session is looked at
            bound.disconnect();
        }
    }

    /** The queue pair is gone. By the completion thread. */
    void unbind(RdmaSession bound) {
        session.compareAndSet(bound, null);
    }

    /** The queue pair ended because it used a key that it was not given. By the completion thread. */
    void usedWrongKey() {
        wrongKeys.incrementAndGet();
    }

    /** {@code rdma hello}; true if this client now knows where to connect. */
    boolean hello(TextRequest request) {
        String version = request.argument(2);
        if (!version.equals(Integer.toString(HelloDescriptor.VERSION))) {
            connection.reply(TextProtocol.line(unknownVersion(version)));
            return false;
        }
        if (wrongKeys.get() >= WrongKeys.FORGIVEN) {
            connection.reply(WRONG_KEYS);
            return false;
        }
        long nowNs = System.nanoTime();
        InetAddress client = connection.remoteAddress();
        long pauseNs = client == null ? 0 : server.rdmaPort().wrongKeys().pausedForNs(client, nowNs);
        if (pauseNs > 0) {
            counters.pausedHellos.increment();
            connection.reply(TextProtocol.line("CLIENT_ERROR rdma refused for "
                    + (TimeUnit.NANOSECONDS.toSeconds(pauseNs) + 1) + " s, this address used wrong keys"));
            return false;
        }
        forgetToken();
        RdmaSession old = session.get();
        if (old != null) {
            old.disconnect();
        }
        String fresh = server.rdmaPort().tokens().give(connection, nowNs);
        token = fresh;
        connection.reply(server.helloLine(fresh));
        return true;
    }

    /** Names both versions; what an old client sent is repeated if it is a number. */
    private static String unknownVersion(String version) {
        boolean number = !version.isEmpty()
                && version.length() <= LONGEST_VERSION
                && version.chars().allMatch(c -> c >= '0' && c <= '9');
        return "CLIENT_ERROR rdma version " + (number ? version + " " : "") + "not supported, expected "
                + HelloDescriptor.VERSION;
    }

    /** {@code rget}. */
    void get(TextRequest request) {
        RdmaSession bound = session.get();
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
        if (status == RdmaSession.AnswerStatus.FULL) {
            connection.continueLater(() -> get(request));
            connection.suspend();
        } else {
            connection.reply(CLOSED_QUEUE_PAIR);
        }
    }

    /** The connection ends. */
    void release() {
        released = true;
        forgetToken();
        RdmaSession bound = session.get();
        if (bound != null) {
            bound.disconnect();
        }
    }

    private void forgetToken() {
        if (token != null) {
            server.rdmaPort().tokens().forget(token);
            token = null;
        }
    }
}
