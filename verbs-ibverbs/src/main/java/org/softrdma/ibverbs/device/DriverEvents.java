package org.softrdma.ibverbs.device;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The asynchronous events of a device that nobody has taken yet. Bounded: the oldest are dropped. Thread-safe; who adds
 * an event never waits for who takes it.
 */
public final class DriverEvents {
    /** Events that are kept. */
    static final int MOST = 1024;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();
    private boolean closed;

    private record Entry(AsyncEvent event, BooleanSupplier isOpen) {}

    /** None. */
    DriverEvents() {}

    /**
     * Something has happened.
     *
     * @param event what
     * @param isOpen false once the object that it is about is closed: nobody gets the event then
     */
    public void add(AsyncEvent event, BooleanSupplier isOpen) {
        lock.lock();
        try {
            if (waiting.size() == MOST) {
                waiting.removeFirst();
            }
            waiting.addLast(new Entry(event, isOpen));
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes the oldest event.
     *
     * @param timeoutNs how long to wait for one; 0 does not wait
     * @return empty after the timeout, or once the device is closed
     * @throws VerbsException {@code INTERRUPTED} if the thread is interrupted while it waits
     */
    Optional<AsyncEvent> await(long timeoutNs) {
        lock.lock();
        try {
            long remainingNs = timeoutNs;
            Optional<AsyncEvent> event = take();
            while (event.isEmpty() && !closed && remainingNs > 0) {
                remainingNs = changed.awaitNanos(remainingNs);
                event = take();
            }
            return event;
        } catch (InterruptedException e) {
            // Whoever is interrupted may have been signalled for an event, which is another's then.
            changed.signal();
            Thread.currentThread().interrupt();
            throw new VerbsException(VerbsErrorCode.INTERRUPTED, "interrupted while waiting for an event", e);
        } finally {
            lock.unlock();
        }
    }

    private Optional<AsyncEvent> take() {
        while (!waiting.isEmpty()) {
            Entry entry = waiting.removeFirst();
            if (entry.isOpen.getAsBoolean()) {
                return Optional.of(entry.event);
            }
        }
        return Optional.empty();
    }

    /** The device is closed: wakes all who wait. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
