package org.softrdma.kv.server.rdma;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A memcached connection as the RDMA port sees it. It owns at most one queue pair, which ends with it. Made and
 * released by the thread of the connection, bound and unbound by threads of the RDMA port.
 */
public final class RdmaClient {
    private final Supplier<@Nullable InetAddress> address;
    private final AtomicReference<@Nullable AnswerRing> bound = new AtomicReference<>();
    private final AtomicInteger wrongKeys = new AtomicInteger();

    /** The connection has ended. */
    private volatile boolean released;

    /**
     * A connection without a queue pair.
     *
     * @param address the client's; null if it came by the Unix socket
     */
    public RdmaClient(Supplier<@Nullable InetAddress> address) {
        this.address = address;
    }

    /** The client's address; null if it came by the Unix socket. Any thread. */
    public @Nullable InetAddress address() {
        return address.get();
    }

    /** The answers of its queue pair, or null. Any thread. */
    public @Nullable AnswerRing answers() {
        return bound.get();
    }

    /**
     * A queue pair showed a token of this connection. The queue pair that an earlier token brought is disconnected.
     * By a thread of the RDMA port.
     */
    void bind(AnswerRing answers) {
        AnswerRing other = bound.getAndSet(answers);
        if (other != null) {
            other.disconnect();
        }
        if (released) { // which is set before the session is looked at
            answers.disconnect();
        }
    }

    /** The queue pair is gone. By the agent {@link RdmaSessions}. */
    void unbind(AnswerRing answers) {
        bound.compareAndSet(answers, null);
    }

    /** Ends the queue pair, if there is one. */
    public void disconnect() {
        AnswerRing answers = bound.get();
        if (answers != null) {
            answers.disconnect();
        }
    }

    /** The connection ends, and its queue pair with it. */
    public void release() {
        released = true;
        disconnect();
    }

    /** The queue pair ended because it used a key that it was not given. By the agent {@link RdmaSessions}. */
    void usedWrongKey() {
        wrongKeys.incrementAndGet();
    }

    /** How many wrong keys its queue pairs have used. */
    public int wrongKeys() {
        return wrongKeys.get();
    }
}
