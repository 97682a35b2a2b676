package org.softrdma.sim.queue;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Manual progress of a device in which nothing ever happens by itself: a queue alone with its test. */
final class StillProgress implements Progress {
    private int polls;
    private int sends;
    private Runnable onPoll = () -> {};

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
        onPoll.run();
    }

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

    /** Sets what happens when the device is driven. */
    void onPoll(Runnable action) {
        onPoll = action;
    }

    /** How often the device was driven. */
    int polls() {
        return polls;
    }
}
