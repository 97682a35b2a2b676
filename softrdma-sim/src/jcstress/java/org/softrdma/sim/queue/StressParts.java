package org.softrdma.sim.queue;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * What queues need around them: a device whose engines have threads, so that locks are real, and a queue pair without
 * slots.
 */
final class StressParts implements Progress, CompletionSource {
    private final SoftCompletionQueue completions = new SoftCompletionQueue(1, this, null, () -> {});

    SoftCompletionQueue completions() {
        return completions;
    }

    @Override
    public boolean isManual() {
        return false;
    }

    @Override
    public boolean isThreaded() {
        return true;
    }

    @Override
    public void settle(CompletableFuture<?> future) {
        throw new IllegalStateException("nobody waits here");
    }

    @Override
    public void checkThread() {
        // Any thread may call.
    }

    @Override
    public void poll() {
        // The engine's thread drives it.
    }

    @Override
    public void send() {
        // The engine's thread sends.
    }

    @Override
    public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
        return condition.getAsBoolean();
    }

    @Override
    public int number() {
        return 1;
    }

    @Override
    public void releaseSendSlots(long sequence) {
        // Has no slots.
    }

    @Override
    public void releaseReceiveSlots(long sequence) {
        // Has no slots.
    }

    @Override
    public void completionQueueOverrun() {
        throw new IllegalStateException("one completion in a queue of one");
    }
}
