package org.softrdma.ibverbs.device;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * A completion channel: what its completion queues are armed for, the events that this side raises besides the
 * device's, and those handed out. A provider adds how to wait. Thread-safe, under one lock.
 */
public abstract class IbvCompletionChannel implements CompletionChannel {
    private final OpenDevice device;
    /** Guards everything here, and what a provider adds. */
    protected final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    private final ArrayDeque<Arming> events = new ArrayDeque<>();
    private int queues;
    private boolean closed;

    /**
     * None raised.
     *
     * @param device counts it already
     */
    protected IbvCompletionChannel(OpenDevice device) {
        this.device = device;
    }

    final boolean isOf(OpenDevice other) {
        return device == other;
    }

    // ---- what a provider does

    /** There is an event for {@link #takeRaised}: wakes waiting threads. Under the lock. */
    protected abstract void eventRaised();

    /** Wakes waiting threads, waits until all have left, then destroys the native objects. Under the lock. */
    protected abstract void destroy();

    // ---- its queues

    /** A queue begins to use this channel, which cannot be closed before the queue. */
    final void attach() {
        lock.lock();
        try {
            checkOpen();
            queues++;
        } finally {
            lock.unlock();
        }
    }

    /** The queue was not created. */
    final void giveUp() {
        lock.lock();
        try {
            queues--;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A queue is about to be destroyed; its events not yet taken are dropped.
     *
     * @throws VerbsException {@code BUSY} if one of its events was taken and not acknowledged
     */
    final void detach(Arming arming) {
        lock.lock();
        try {
            if (arming.taken > 0) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY, arming.taken + " events of this completion queue were not acknowledged");
            }
            arming.armed = false;
            arming.detached = true;
            events.remove(arming);
            queues--;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Arms a queue. One that is armed for any completion stays so.
     *
     * @return true if it is armed for any completion now
     */
    final boolean arm(Arming arming, boolean solicitedOnly) {
        lock.lock();
        try {
            arming.any = (arming.armed && arming.any) || !solicitedOnly;
            arming.armed = true;
            return arming.any;
        } finally {
            lock.unlock();
        }
    }

    /** Raises an event of a queue if it is armed. */
    final void raise(Arming arming) {
        lock.lock();
        try {
            if (arming.armed) {
                arming.armed = false;
                give(arming);
            }
        } finally {
            lock.unlock();
        }
    }

    private void give(Arming arming) {
        if (!arming.raised) {
            arming.raised = true;
            events.addLast(arming);
            eventRaised();
        }
    }

    /** Events of a queue were acknowledged. */
    final void acknowledge(Arming arming, int count) {
        lock.lock();
        try {
            if (count < 0 || count > arming.taken) {
                throw new IllegalArgumentException(
                        "count=" + count + ": expected 0 to " + arming.taken + ", the events taken");
            }
            arming.taken -= count;
        } finally {
            lock.unlock();
        }
    }

    // ---- for a provider

    /**
     * True if a queue waits for an event.
     *
     * @param arming of a queue of this channel
     */
    public final boolean isArmed(Arming arming) {
        lock.lock();
        try {
            return arming.armed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A native event arrived, which {@link #takeRaised} returns; ignored if the queue is not armed.
     *
     * @param arming of a queue of this channel
     * @return true if the queue must be armed natively again: it is armed for a solicited completion, and the event may
     *     be for another one
     */
    public final boolean happened(Arming arming) {
        lock.lock();
        try {
            if (!arming.armed) {
                return false;
            }
            boolean goesOn = goesOn(arming);
            give(arming);
            return goesOn;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A native event was taken and is handed out at once. Under the lock.
     *
     * @param arming of a queue of this channel
     * @return what {@link #await} gives; empty if the queue is closed
     */
    protected final Optional<CompletionQueue> taken(Arming arming) {
        if (arming.detached) {
            return Optional.empty();
        }
        if (goesOn(arming)) {
            arming.armForAny.run();
        }
        arming.taken++;
        return arming.event;
    }

    /**
     * Where solicited completions are not told from others, the queue stays armed until the solicited one has come.
     */
    private boolean goesOn(Arming arming) {
        arming.armed = arming.armed && !arming.any && device.traits().isIwarp();
        return arming.armed;
    }

    /**
     * Takes the oldest event that was raised. Under the lock.
     *
     * @return what {@link #await} gives; empty if there is none
     */
    protected final Optional<CompletionQueue> takeRaised() {
        checkOpen();
        Arming arming = events.pollFirst();
        if (arming == null) {
            return Optional.empty();
        }
        arming.raised = false;
        arming.taken++;
        return arming.event;
    }

    /** True if {@link #takeRaised} would return an event. Under the lock. */
    protected final boolean hasRaised() {
        return !events.isEmpty();
    }

    /** Under the lock. */
    protected final void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the completion channel is closed");
        }
    }

    /**
     * The failure of an interrupted wait.
     *
     * @param cause what was thrown, or null
     */
    protected static VerbsException interrupted(@Nullable InterruptedException cause) {
        return new VerbsException(
                VerbsErrorCode.INTERRUPTED, "interrupted while waiting for a completion event", cause);
    }

    @Override
    public final void close() {
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
            try {
                destroy();
            } finally {
                device.childClosed();
            }
        } finally {
            lock.unlock();
        }
    }
}
