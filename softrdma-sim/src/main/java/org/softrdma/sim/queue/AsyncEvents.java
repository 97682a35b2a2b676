package org.softrdma.sim.queue;

import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The asynchronous events of a device, oldest first. Whatever happens raises them, application threads take them, under
 * one short lock. Raising allocates nothing and never fails: an event is made when it is taken. If nobody takes them,
 * the oldest are dropped.
 *
 * <p>Whoever raises an event of an object does it before the object is closed, and closing the object {@linkplain
 * #forget forgets} them.
 */
public final class AsyncEvents {
    /** Most events that wait. */
    public static final int CAPACITY = 1024;

    private final Progress progress;
    private final QueueLock lock;
    private final Condition raised;

    // Under the lock.
    private final Object[] sources = new Object[CAPACITY];
    private final Enum<?>[] kinds = new Enum<?>[CAPACITY];
    private long head;
    private long tail;
    private boolean closed;

    /**
     * Nothing has happened.
     *
     * @param progress how waiting drives the device
     */
    public AsyncEvents(Progress progress) {
        this.progress = progress;
        lock = new QueueLock(progress);
        raised = lock.newCondition();
    }

    /** Something happened to a queue pair. */
    public void raise(QueuePair queuePair, QueuePairEvent.Kind kind) {
        add(queuePair, kind);
    }

    /** Something happened to a shared receive queue. */
    public void raise(SharedReceiveQueue queue, SharedReceiveQueueEvent.Kind kind) {
        add(queue, kind);
    }

    /** A completion queue has overrun. */
    public void overrun(CompletionQueue queue) {
        add(queue, null);
    }

    private void add(Object source, @Nullable Enum<?> kind) {
        lock.lock();
        try {
            if (tail - head == CAPACITY) {
                clear(head++);
            }
            sources[slot(tail)] = source;
            kinds[slot(tail)] = kind;
            tail++;
            if (progress.isThreaded()) {
                raised.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** An object is being closed: nobody is told of it any more. */
    public void forget(Object source) {
        lock.lock();
        try {
            long kept = head;
            for (long i = head; i < tail; i++) {
                if (sources[slot(i)] != source) {
                    sources[slot(kept)] = sources[slot(i)];
                    kinds[slot(kept)] = kinds[slot(i)];
                    kept++;
                }
            }
            for (long i = kept; i < tail; i++) {
                clear(i);
            }
            tail = kept;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for an event.
     *
     * @param timeoutNs how long at most
     * @throws VerbsException {@code INTERRUPTED}; the thread's flag stays set, and no event is lost
     * @throws IllegalStateException if the device is closed, perhaps meanwhile
     */
    public Optional<AsyncEvent> await(long timeoutNs) {
        progress.checkThread();
        if (progress.isThreaded()) {
            return take(timeoutNs);
        }
        boolean ignored = progress.await(() -> head < tail || closed, timeoutNs, "an asynchronous event");
        return take(0);
    }

    /** The oldest one, without waiting. */
    public Optional<AsyncEvent> poll() {
        return take(0);
    }

    private Optional<AsyncEvent> take(long timeoutNs) {
        lock.lock();
        try {
            long remainingNs = timeoutNs;
            while (head == tail && !closed && remainingNs > 0) {
                remainingNs = raised.awaitNanos(remainingNs);
            }
            if (closed) {
                throw new IllegalStateException("the device is closed");
            }
            if (head == tail) {
                return Optional.empty();
            }
            Optional<AsyncEvent> event = Optional.of(event(sources[slot(head)], kinds[slot(head)]));
            clear(head++);
            return event;
        } catch (InterruptedException e) {
            if (head < tail) {
                raised.signal(); // what woke this thread, perhaps, is for another one
            }
            Thread.currentThread().interrupt();
            throw new VerbsException(
                    VerbsErrorCode.INTERRUPTED, "interrupted while waiting for an asynchronous event", e);
        } finally {
            lock.unlock();
        }
    }

    private static AsyncEvent event(@Nullable Object source, @Nullable Enum<?> kind) {
        if (source instanceof QueuePair pair && kind instanceof QueuePairEvent.Kind what) {
            return new QueuePairEvent(pair, what);
        }
        if (source instanceof SharedReceiveQueue queue && kind instanceof SharedReceiveQueueEvent.Kind what) {
            return new SharedReceiveQueueEvent(queue, what);
        }
        if (source instanceof CompletionQueue queue) {
            return new CompletionQueueEvent(queue);
        }
        throw new IllegalStateException("an event of " + source + ", " + kind);
    }

    /** The device is closed: nobody waits any more. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            if (progress.isThreaded()) {
                raised.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    private void clear(long sequence) {
        sources[slot(sequence)] = null;
        kinds[slot(sequence)] = null;
    }

    private static int slot(long sequence) {
        return (int) sequence & (CAPACITY - 1);
    }
}
