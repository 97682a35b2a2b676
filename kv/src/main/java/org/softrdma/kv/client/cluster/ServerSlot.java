package org.softrdma.kv.client.cluster;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;

/**
 * The client of one server of a cluster, which is made when it is first needed. If it cannot be made, requests fail at
 * once for a quarter of a second, as a client's do whose connection is lost. Thread-safe; one thread connects while others
 * wait for it.
 *
 * @param <C> what kind of client
 */
final class ServerSlot<C extends KvCommands> {
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ReentrantLock lock = new ReentrantLock();
    private final NanoClock clock;
    private final Supplier<C> connect;
    private volatile @Nullable C client;

    // Under the lock.
    private @Nullable KvException failure;
    private long retryNs;
    private boolean closed;

    /**
     * Without a client yet.
     *
     * @param clock for the pause
     * @param connect makes the client; a {@link KvException} if there is no such server
     */
    ServerSlot(NanoClock clock, Supplier<C> connect) {
        this.clock = clock;
        this.connect = connect;
    }

    /** The client, or null if none was needed yet. */
    @Nullable
    C existing() {
        return client;
    }

    /**
     * The client.
     *
     * @throws KvException if it cannot be made
     */
    C client() {
        C existing = client;
        return existing == null ? made() : existing;
    }

    private C made() {
        lock.lock();
        try {
            C existing = client;
            if (existing != null) {
                return existing;
            }
            if (closed) {
                throw new IllegalStateException("the client is closed");
            }
            KvException last = failure;
            if (last != null && clock.nanoTime() - retryNs < 0) {
                throw last;
            }
            C made = connect.get();
            client = made;
            return made;
        } catch (KvException e) {
            if (e != failure) {
                failure = e;
                retryNs = clock.nanoTime() + PAUSE_NS;
            }
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the client; no other is made. Idempotent. */
    void close() {
        lock.lock();
        try {
            closed = true;
            C existing = client;
            if (existing != null) {
                existing.close();
            }
        } finally {
            lock.unlock();
        }
    }
}
