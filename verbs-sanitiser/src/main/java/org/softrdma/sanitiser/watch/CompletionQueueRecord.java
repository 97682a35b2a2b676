package org.softrdma.sanitiser.watch;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What may complete into a completion queue, and whether a wait for its event is safe. Thread-safe. */
public final class CompletionQueueRecord {
    private volatile int entries;
    private final AtomicInteger outstanding = new AtomicInteger();
    private volatile boolean overcommitted;
    private volatile boolean armed;
    private volatile boolean unseen;
    private volatile @Nullable Thread armer;
    private volatile boolean manyArmers;

    /**
     * Of a new queue.
     *
     * @param entries completions that it holds
     */
    public CompletionQueueRecord(int entries) {
        this.entries = entries;
    }

    int entries() {
        return entries;
    }

    /**
     * The queue was made larger or smaller.
     *
     * @param newEntries completions that it holds
     */
    public void resized(int newEntries) {
        entries = newEntries;
        overcommitted = outstanding() > newEntries;
    }

    /** Requests that have not completed, or whose completion was not polled. */
    int outstanding() {
        return outstanding.get();
    }

    /** A request that may complete here was posted. True if there are more than entries now, for the first time. */
    boolean posted() {
        boolean was = overcommitted;
        overcommitted = outstanding.incrementAndGet() > entries;
        return overcommitted && !was;
    }

    /** Requests have completed, or were not accepted. */
    void gone(int requests) {
        overcommitted = outstanding.addAndGet(-requests) > entries;
    }

    // ---- notification

    /** The queue is about to be armed. */
    public void arming() {
        Thread current = Thread.currentThread();
        Thread before = armer;
        manyArmers |= before != null && before != current;
        armer = current;
        unseen = outstanding() > 0;
        armed = true;
    }

    /** A poll found the queue empty, or emptied it. */
    public void emptied() {
        unseen = false;
    }

    /** An event of the queue was taken. */
    public void eventTaken() {
        armed = false;
    }

    /** True if it is armed and has raised no event since. */
    public boolean isArmed() {
        return armed;
    }

    /** True if completions that raise no event may have been in the queue when it was armed. */
    public boolean mayHoldUnseen() {
        return armed && unseen;
    }

    /**
     * True if nobody else has ever armed it.
     *
     * @param thread the thread in question
     */
    public boolean isArmedOnlyBy(Thread thread) {
        return !manyArmers && thread.equals(armer);
    }

    /** True if a completion may still come. */
    public boolean isAwaited() {
        return outstanding() > 0;
    }
}
