package org.softrdma.sim.queue;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Events of completion queues, oldest first. Engines raise them, application threads take them, under one lock. Raising one
 * needs no memory: arming a queue makes room for its event.
 */
public final class SoftCompletionChannel implements CompletionChannel {
    private static final int FIRST_EVENTS = 16;

    private final Progress progress;
    private final Runnable onClose;
    private final QueueLock lock;
    private final Condition raised;

    // Under the lock.
    private @Nullable SoftCompletionQueue[] events = new SoftCompletionQueue[FIRST_EVENTS];
    private int count;
    private int queues;
    private boolean closed;

    /**
     * An empty channel.
     *
     * @param progress how waiting drives the device
     * @param onClose called once on close
     */
    public SoftCompletionChannel(Progress progress, Runnable onClose) {
        this.progress = progress;
        this.onClose = onClose;
        lock = new QueueLock(progress);
        raised = lock.newCondition();
    }

    /** True if it belongs to the device that this progress drives. */
    public boolean isOf(Progress device) {
        return progress == device;
    }

    void attach() {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the completion channel is closed");
            }
            queues++;
        } finally {
            lock.unlock();
        }
    }

    /** A queue is being closed; refused while events of it are not acknowledged. */
    void detach(SoftCompletionQueue queue) {
        lock.lock();
        try {
            if (queue.eventsTaken() > 0) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY,
                        queue.eventsTaken() + " completion events were taken but not acknowledged");
            }
            int kept = 0;
            for (int i = 0; i < count; i++) {
                if (events[i] != queue) {
                    events[kept++] = events[i];
                }
            }
            Arrays.fill(events, kept, count, null);
            count = kept;
            queues--;
        } finally {
            lock.unlock();
        }
    }

    /** Events of a queue were given back. */
    void acknowledge(SoftCompletionQueue queue, int count) {
        lock.lock();
        try {
            queue.eventsAcknowledged(count);
        } finally {
            lock.unlock();
        }
    }

    /** True if an event of a queue has been raised and not been taken. */
    public boolean isRaised(SoftCompletionQueue queue) {
        lock.lock();
        try {
            boolean raised = false;
            for (int i = 0; i < count; i++) {
                raised |= events[i] == queue;
            }
            return raised;
        } finally {
            lock.unlock();
        }
    }

    /** A queue is about to be armed: there must be room for one event of each queue. */
    void makeRoom() {
        lock.lock();
        try {
            if (count + queues > events.length) {
                events = Arrays.copyOf(events, 2 * (count + queues));
            }
        } finally {
            lock.unlock();
        }
    }

    void raise(SoftCompletionQueue queue) {
        lock.lock();
        try {
            if (count == events.length) { // of a queue that is not armed, in a simulation
                events = Arrays.copyOf(events, 2 * count);
            }
            events[count++] = queue;
            if (progress.isThreaded()) {
                raised.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Optional<CompletionQueue> await(long timeoutNs) {
        progress.checkThread();
        if (progress.isThreaded()) {
            return take(timeoutNs);
        }
        progress.await(() -> count > 0 || closed, timeoutNs, "a completion event");
        return take(0);
    }

    private Optional<CompletionQueue> take(long timeoutNs) {
        lock.lock();
        try {
            long remainingNs = timeoutNs;
            while (count == 0 && !closed && remainingNs > 0) {
                remainingNs = raised.awaitNanos(remainingNs);
            }
            if (closed) {
                throw new IllegalStateException("the completion channel is closed");
            }
            SoftCompletionQueue queue = pollFirst();
            // Under the same lock as the look into the events, or the queue could be closed in between.
            return queue == null ? Optional.empty() : queue.takeEvent();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(VerbsErrorCode.INTERRUPTED, "interrupted while waiting for a completion event", e);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable SoftCompletionQueue pollFirst() {
        SoftCompletionQueue queue = events[0];
        if (count > 0) {
            System.arraycopy(events, 1, events, 0, --count);
            events[count] = null;
        }
        return queue;
    }

    @Override
    public void close() {
        progress.checkThread();
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (queues > 0) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY, queues + " completion queues still use this completion channel");
            }
            closed = true;
            if (progress.isThreaded()) {
                raised.signalAll();
            }
            onClose.run(); // inside: who closes it at the same time returns after this
        } finally {
            lock.unlock();
        }
    }
}
