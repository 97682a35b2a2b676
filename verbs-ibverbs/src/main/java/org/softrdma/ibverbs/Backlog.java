package org.softrdma.ibverbs;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Connection requests that wait to be taken. Bounded: a caller rejects a request that finds no room. Thread-safe.
 *
 * @param <T> the requests
 */
public final class Backlog<T> {
    private final int capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<T> waiting = new ArrayDeque<>();
    private boolean closed;

    /**
     * An empty backlog.
     *
     * @param capacity maximum number of waiting requests, at least 1
     */
    public Backlog(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Adds a request.
     *
     * @param request to be taken
     * @return false if there is no room, or the backlog is closed
     */
    public boolean offer(T request) {
        lock.lock();
        try {
            if (closed || waiting.size() == capacity) {
                return false;
            }
            waiting.addLast(request);
            changed.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the oldest request.
     *
     * @param timeoutNs how long to wait for one; 0 does not wait
     * @return empty after the timeout, or once the backlog is closed
     * @throws VerbsException {@code INTERRUPTED} if the thread is interrupted
     */
    public Optional<T> take(long timeoutNs) {
        lock.lock();
        try {
            long remainingNs = timeoutNs;
            while (waiting.isEmpty() && !closed && remainingNs > 0) {
                remainingNs = changed.awaitNanos(remainingNs);
            }
            return Optional.ofNullable(waiting.pollFirst());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(
                    VerbsErrorCode.INTERRUPTED, "interrupted while waiting for a connection request", e);
        } finally {
            lock.unlock();
        }
    }

    /** True once {@link #close()} was called. */
    public boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Wakes waiting threads and refuses further requests.
     *
     * @return the requests that were not taken, to be rejected; none if it was closed before
     */
    public List<T> close() {
        lock.lock();
        try {
            closed = true;
            List<T> left = List.copyOf(waiting);
            waiting.clear();
            changed.signalAll();
            return left;
        } finally {
            lock.unlock();
        }
    }
}
