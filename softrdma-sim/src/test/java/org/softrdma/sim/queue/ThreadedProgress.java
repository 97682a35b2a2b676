package org.softrdma.sim.queue;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Progress of a device whose engines have threads of their own, so that locks are real: nobody drives it. */
final class ThreadedProgress implements Progress {
    @Override
    public boolean isManual() {
        return false;
    }

    @Override
    public boolean isThreaded() {
        return true;
    }

    @Override
    public void checkThread() {
        // Any thread may call.
    }

    @Override
    public boolean turn() {
        return false; // the engine's thread drives it
    }

    @Override
    public void poll() {
        // The engine's thread drives it.
    }

    @Override
    public void completed() {}

    @Override
    public void send() {
        // The engine's thread sends.
    }

    @Override
    public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
        return condition.getAsBoolean();
    }

    @Override
    public void settle(CompletableFuture<?> future) {
        throw driven();
    }

    private static IllegalStateException driven() {
        return new IllegalStateException("nobody drives an engine that has threads");
    }
}
