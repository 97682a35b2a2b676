package org.softrdma.sim.queue;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * How waiting and polling make the device go on: engines run on threads of their own, the caller runs them (manual), or a
 * simulation runs one thread after the other.
 */
public interface Progress {
    /** True if the owning thread drives the device. */
    boolean isManual();

    /**
     * True if engines run on threads of their own at the same time as the caller: it waits for them by locks and futures. If not,
     * every wait goes through {@link #runUntil} or {@link #settle}.
     */
    boolean isThreaded();

    /**
     * Refuses a call from a thread that may not make it.
     *
     * @throws IllegalStateException in manual progress on any thread but the owner
     */
    void checkThread();

    /** Manual: sends what was posted and runs what is ready, without waiting. Simulated: lets others run. Threaded: nothing. */
    void poll();

    /**
     * As {@link #poll}, but manual also looks at the connections that were quiet lately. Not if it is threaded.
     *
     * @return false if nothing was ready; a simulation does not know
     */
    boolean turn();

    /** Manual: sends what was posted, so that the peer works while the caller does. Otherwise nothing. */
    void send();

    /** Manual: a completion was put into a queue, so the next turn does not wait. Otherwise nothing. */
    void completed();

    /**
     * Runs the device, or lets it run, until a condition holds, the time is over, or the thread is interrupted. Not if it is
     * threaded.
     *
     * @param condition checked between batches; it has no effects
     * @param timeoutNs how long at most
     * @return the condition
     */
    boolean runUntil(BooleanSupplier condition, long timeoutNs);

    /** Waits until a future is done, whatever happens to this thread; only for what an engine always does soon. */
    void settle(CompletableFuture<?> future);

    /**
     * Like {@link #runUntil}, but throws on an interrupt.
     *
     * @param condition checked between batches
     * @param timeoutNs how long at most
     * @param what waited for, for the message
     * @return the condition
     * @throws VerbsException {@code INTERRUPTED}; the thread's flag stays set
     */
    default boolean await(BooleanSupplier condition, long timeoutNs, String what) {
        boolean holds = runUntil(condition, timeoutNs);
        if (!holds && Thread.currentThread().isInterrupted()) {
            throw new VerbsException(VerbsErrorCode.INTERRUPTED, "interrupted while waiting for " + what);
        }
        return holds;
    }
}
