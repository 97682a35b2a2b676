package org.softrdma.testkit;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Makes the requester's device stand still for a while, as a peer does whose machine is overloaded: its streams stop in the
 * middle of a message, which a case can then rely on.
 *
 * <p>In manual progress it is enough not to drive it. Elsewhere the device's thread is held where the API forbids
 * applications to block: in the callback of a connection that was ended for this purpose.
 */
public final class Standstill {
    private static final long SETTLE_NS = 10_000_000;

    private final Fabric fabric;
    private final @Nullable LoopbackPair brake;
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private Standstill(Fabric fabric, @Nullable LoopbackPair brake) {
        this.fabric = fabric;
        this.brake = brake;
        if (brake != null) {
            CompletionStage<Void> unused = brake.requester().queuePair().disconnected().thenRun(this::hold);
            java.util.Objects.requireNonNull(unused);
        }
    }

    /**
     * Prepares one; it can be used once. Skips the case where it cannot work.
     *
     * @param fabric of the case
     */
    public static Standstill prepare(Fabric fabric) {
        fabric.require(!fabric.settings().sharedDevice(), "both ends are one device, which cannot stand still on one side");
        return new Standstill(fabric, fabric.requester().device().manualProgress() ? null : fabric.connect());
    }

    /**
     * Runs something while the requester's device stands still, after the streams had time to come to rest.
     *
     * @param action what to do; it must not use the requester's device
     */
    public void during(Runnable action) {
        LoopbackPair ended = brake;
        if (ended == null) {
            LockSupport.parkNanos(SETTLE_NS);
            action.run();
            return;
        }
        Task<Integer> braking = fabric.start("brake", () -> {
            ended.requester().queuePair().disconnect();
            return 0;
        });
        try {
            fabric.require(await(held), "the device's thread cannot be held");
            LockSupport.parkNanos(SETTLE_NS);
            action.run();
        } finally {
            released.countDown();
        }
        braking.get();
        ended.responder().awaitError();
    }

    private void hold() {
        held.countDown();
        await(released);
    }

    private boolean await(CountDownLatch latch) {
        try {
            return latch.await(fabric.timeoutNs(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
