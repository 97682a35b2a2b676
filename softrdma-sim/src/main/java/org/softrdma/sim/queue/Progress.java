package org.softrdma.sim.queue;

import java.util.function.BooleanSupplier;

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

    /** Manual: runs what is ready, without waiting. Engine: nothing. */
    void poll();

    /**
     * Manual: runs the device until a condition holds. Engine: must not be called.
     *
     * @param condition checked between batches
     * @param timeoutNs how long at most
     * @return the condition
     */
    boolean runUntil(BooleanSupplier condition, long timeoutNs);
}
