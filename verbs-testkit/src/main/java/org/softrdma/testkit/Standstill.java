package org.softrdma.testkit;

import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.ProviderTraits.Trait;

/**
 * Makes a device stand still for a while, as one does whose machine is overloaded: streams stop in the middle of a
 * message, even of a segment, which a case can then rely on. Used once.
 *
 * <p>A device in manual progress stands still while nobody drives it. The thread of any other is held where the API
 * forbids applications to block: in the callback of a connection that was ended for this purpose.
 */
public final class Standstill {
    /** More than a sender needs to fill the buffers of a stream. */
    private static final long FILL_NS = 50_000_000;

    private static final long DRAIN_NS = 10_000_000;

    private final Fabric fabric;
    private final Brake requester;
    private final Brake responder;

    private Standstill(Fabric fabric) {
        this.fabric = fabric;
        boolean manual = fabric.requester().device().manualProgress();
        requester = new Brake(manual ? null : fabric.connect().requester());
        responder = new Brake(fabric.connect().responder());
    }

    /**
     * Prepares one; skips the case where it cannot work.
     *
     * @param fabric of the case
     */
    public static Standstill prepare(Fabric fabric) {
        fabric.require(
                fabric.traits().has(Trait.CAN_STAND_STILL),
                "nothing that a process does makes this device stand still");
        fabric.require(
                !fabric.settings().sharedDevice(), "both ends are one device, which cannot stand still on one side");
        return new Standstill(fabric);
    }

    /**
     * Runs something while the requester's device stands still, after the responder has sent all that it could.
     *
     * @param action what to do; it must not use the requester's device
     */
    public void whileRequesterTakesNothing(Runnable action) {
        try {
            requester.hold();
            LockSupport.parkNanos(FILL_NS);
            action.run();
        } finally {
            release();
        }
    }

    /**
     * Runs something while the requester's device stands still, after it has filled its streams to the last byte,
     * wherever in a segment that is, and the responder has taken all of that.
     *
     * @param action what to do; it must not use the requester's device
     */
    public void whileRequesterSendsNothing(Runnable action) {
        try {
            responder.hold();
            fabric.linger(FILL_NS);
            requester.hold();
            responder.release();
            LockSupport.parkNanos(DRAIN_NS);
            action.run();
        } finally {
            release();
        }
    }

    /** Also a brake that was not used: it would hold its thread when its connection is closed. */
    private void release() {
        requester.release();
        responder.release();
    }

    /** Holds the thread of one device. */
    private final class Brake {
        private final @Nullable Endpoint end;
        private final CountDownLatch held = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        /** Without an end there is no thread: nobody drives the device. */
        Brake(@Nullable Endpoint end) {
            this.end = end;
            if (end != null) {
                CompletionStage<Void> unused = end.queuePair().disconnected().thenRun(() -> {
                    held.countDown();
                    await(released);
                });
                Objects.requireNonNull(unused);
            }
        }

        void hold() {
            Endpoint ended = end;
            if (ended != null) {
                // Not from here: where it calls back at once, the case itself would be held.
                Task<Integer> unused = fabric.start("brake", () -> {
                    ended.queuePair().disconnect();
                    return 0;
                });
                Objects.requireNonNull(unused);
                fabric.require(await(held), "the device's thread cannot be held");
            }
        }

        void release() {
            released.countDown();
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
}
