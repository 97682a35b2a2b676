package org.softrdma.kv.server;

import java.net.InetAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A memcached connection as the RDMA port knows it: at most one queue pair is its own, and ends with it. Made and released by
 * the thread of the connection, bound and unbound by threads of the RDMA port.
 */
final class RdmaClient {
    private final Supplier<@Nullable InetAddress> address;
    private final AtomicReference<@Nullable AnswerRing> bound = new AtomicReference<>();
    private final AtomicInteger wrongKeys = new AtomicInteger();

    /** The connection has ended. */
    private volatile boolean released;

    /**
     * One without a queue pair.
     *
     * @param address the client's; null if it came by the Unix socket
     */
    RdmaClient(Supplier<@Nullable InetAddress> address) {
        this.address = address;
    }

    /** The client's address; null if it came by the Unix socket. Any thread. */
    @Nullable
    InetAddress address() {
        return address.get();
    }

    /** The answers of its queue pair, or null. Any thread. */
    @Nullable
    AnswerRing answers() {
        return bound.get();
    }

    /** A queue pair showed our token. One that another token of ours brought is ended. By a thread of the RDMA port. */
    void bind(AnswerRing answers) {
        AnswerRing other = bound.getAndSet(answers);
        if (other != null) {
            other.disconnect();
        }
        if (released) { // which is set before the session is looked at
            answers.disconnect();
        }
    }

    /** The queue pair is gone. By the completion thread. */
    void unbind(AnswerRing answers) {
        bound.compareAndSet(answers, null);
    }

    /** Ends the queue pair, if there is one. */
    void disconnect() {
        AnswerRing answers = bound.get();
        if (answers != null) {
            answers.disconnect();
        }
    }

    /** The connection ends, and its queue pair with it. */
    void release() {
        released = true;
        disconnect();
    }

    /** The queue pair ended because it used a key that it was not given. By the completion thread. */
    void usedWrongKey() {
        wrongKeys.incrementAndGet();
    }

    /** How many wrong keys its queue pairs have used. */
    int wrongKeys() {
        return wrongKeys.get();
    }
}
