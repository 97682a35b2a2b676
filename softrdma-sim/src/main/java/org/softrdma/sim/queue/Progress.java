package org.softrdma.sim.queue;

import java.util.function.BooleanSupplier;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** How waiting and polling make the device go on: engine threads do it by themselves, or the caller does it (manual). */
public interface Progress {
    /** True if the owning thread drives the device. */
    boolean isManual();

    /**
     * Refuses a call from a thread that may not make it.
     *
     * @throws IllegalStateException in manual progress on any thread but the owner
     */
    void checkThread();

    /** Manual: sends what was posted and runs what is ready, without waiting. Engine: nothing. */
    void poll();

    /** Manual: sends what was posted, so that the peer works while the caller does. Engine: nothing. */
    void send();

    /**
     * Manual: runs the device until a condition holds, the time is over, or the thread is interrupted. Engine: must not be
     * called.
     *
     * @param condition checked between batches
     * @param timeoutNs how long at most
     * @return the condition
     */
    boolean runUntil(BooleanSupplier condition, long timeoutNs);

    /**
     * As {@link #runUntil}, but an interrupt is an exception.
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
