package org.softrdma.sim.queue;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Manual progress of a device in which nothing ever happens by itself: a queue alone with its test. */
public final class StillProgress implements Progress {
    private int polls;
    private int sends;
    private int turns;
    private boolean busy;

    @Override
    public boolean isManual() {
        return true;
    }

    @Override
    public boolean isThreaded() {
        return false;
    }

    @Override
    public void checkThread() {
        // Any thread will do: there is only the test's.
    }

    @Override
    public void poll() {
        polls++;
    }

    @Override
    public boolean turn() {
        turns++;
        return busy;
    }

    @Override
    public void completed() {}

    @Override
    public void send() {
        sends++;
    }

    @Override
    public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
        return condition.getAsBoolean();
    }

    @Override
    public void settle(CompletableFuture<?> future) {
        throw new IllegalStateException("nothing ever happens here");
    }

    /** How often what was posted was sent without driving the device. */
    int sends() {
        return sends;
    }

    /** Sets whether turns find something to do. */
    void busy(boolean isBusy) {
        busy = isBusy;
    }

    /** How often the device was driven although completions were there. */
    int turns() {
        return turns;
    }

    /** How often the device was driven. */
    int polls() {
        return polls;
    }
}
