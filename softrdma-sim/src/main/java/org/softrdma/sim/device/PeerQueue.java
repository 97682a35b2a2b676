package org.softrdma.sim.device;

import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.sim.engine.EnduringQueue;
import org.softrdma.sim.queue.Progress;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * What peers ask for and the application has not seen yet. One lock: engines add, application threads take.
 *
 * @param <T> what waits
 */
final class PeerQueue<T> {
    private final Progress progress;
    private final int backlog;
    private final String what;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final EnduringQueue<T> waiting = new EnduringQueue<>();
    private boolean closed;

    /**
     * An empty queue.
     *
     * @param progress of the device
     * @param backlog how many may wait
     * @param what waits, for messages
     */
    PeerQueue(Progress progress, int backlog, String what) {
        this.progress = progress;
        this.backlog = backlog;
        this.what = what;
    }

    int backlog() {
        return backlog;
    }

    /** Adds one; false if the queue is full or closed. */
    boolean add(T one) {
        lock.lock();
        try {
            boolean taken = !closed && waiting.size() < backlog;
            if (taken) {
                waiting.addLast(one);
                changed.signal();
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the oldest one, if one comes in time.
     *
     * @param timeoutNs how long to wait
     * @param shown makes what the application gets of it
     */
    <R> Optional<R> next(long timeoutNs, Function<T, R> shown) {
        progress.checkThread();
        if (progress.isThreaded()) {
            return take(timeoutNs, shown);
        }
        progress.await(() -> !waiting.isEmpty() || closed, timeoutNs, what);
        return take(0, shown);
    }

    private <R> Optional<R> take(long timeoutNs, Function<T, R> shown) {
        lock.lock();
        try {
            long remainingNs = timeoutNs;
            while (waiting.isEmpty() && !closed && remainingNs > 0) {
                remainingNs = changed.awaitNanos(remainingNs);
            }
            T oldest = waiting.peekFirst();
            if (oldest == null) {
                return Optional.empty();
            }
            Optional<R> next = Optional.of(shown.apply(oldest));
            T ignored =
                    waiting.pollFirst(); // last: if there is no memory for what the application gets, it can ask again
            return next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(VerbsErrorCode.INTERRUPTED, "interrupted while waiting for " + what, e);
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing is added any more; what has waited is dropped. */
    void close(Consumer<T> dropped) {
        lock.lock();
        try {
            closed = true;
            for (T next = waiting.pollFirst(); next != null; next = waiting.pollFirst()) {
                dropped.accept(next);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
