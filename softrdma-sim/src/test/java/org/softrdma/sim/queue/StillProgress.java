package org.softrdma.sim.queue;

import java.util.function.BooleanSupplier;

/** Manual progress of a device in which nothing ever happens by itself: a queue alone with its test. */
final class StillProgress implements Progress {
    private int polls;

    @Override
    public boolean isManual() {
        return true;
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
    public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
        return condition.getAsBoolean();
    }

    /** How often the device was driven. */
    int polls() {
        return polls;
    }
}
