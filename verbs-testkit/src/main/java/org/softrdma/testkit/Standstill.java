package org.softrdma.testkit;

import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.ProviderTraits.Trait;

/**
 * Makes a device stall for a while, like one on an overloaded machine: streams stop in the middle of a message, even of
 * a segment, and a case can rely on that. Used once.
 *
 * <p>A device in manual progress stalls while nothing drives it. The thread of any other device is held where the API
 * forbids applications to block: in a callback, that of a connection that was ended for this purpose.
 */
public final class Standstill {
    /** More time than a sender needs to fill the buffers of a stream. */
    private static final long FILL_NS = 50_000_000;

    private static final long DRAIN_NS = 10_000_000;
    private static final long LOOK_NS = 100_000;

    private final TwoNodes nodes;
    private final Brake requester;
    private final Brake responder;

    private Standstill(TwoNodes nodes) {
        this.nodes = nodes;
        boolean manual = nodes.requester().device().manualProgress();
        requester = new Brake(manual ? null : nodes.connect().requester());
        responder = new Brake(nodes.connect().responder());
    }

    /**
     * Prepares a standstill; skips the case if the device cannot stall.
     *
     * @param nodes of the case
     */
    public static Standstill prepare(TwoNodes nodes) {
        nodes.require(nodes.traits().has(Trait.CAN_STAND_STILL), "no process can make this device stall");
        nodes.require(!nodes.settings().sharedDevice(), "both ends are one device, which cannot stall on one side");
        return new Standstill(nodes);
    }

    /**
     * Runs an action while the requester's device stalls, after the responder has sent all it could.
     *
     * @param action what to do; it must not use the requester's device
     */
    public void whileRequesterTakesNothing(Runnable action) {
        try {
            requester.hold();
            nodes.sleep(FILL_NS);
            action.run();
        } finally {
            release();
        }
    }

    /**
     * Runs an action while the requester's device stalls, after it has filled its streams to the last byte, at any
     * place in a segment, and the responder has received all of that.
     *
     * @param action what to do; it must not use the requester's device
     */
    public void whileRequesterSendsNothing(Runnable action) {
        try {
            responder.hold();
            nodes.linger(FILL_NS);
            requester.hold();
            responder.release();
            nodes.sleep(DRAIN_NS);
            action.run();
        } finally {
            release();
        }
    }

    /** Releases an unused brake, too: it would hold its thread when its connection is closed. */
    private void release() {
        requester.release();
        responder.release();
    }

    /** Holds the thread of one device. */
    private final class Brake {
        private final @Nullable Endpoint end;
        private final AtomicBoolean held = new AtomicBoolean();
        private final AtomicBoolean released = new AtomicBoolean();

        /** Without an end there is no thread to hold: the case stops driving the device. */
        Brake(@Nullable Endpoint end) {
            this.end = end;
            if (end != null) {
                CompletionStage<Void> unused = end.queuePair().disconnected().thenRun(() -> {
                    held.set(true);
                    nodes.await("the end of the standstill", released::get);
                });
                Objects.requireNonNull(unused);
            }
        }

        void hold() {
            Endpoint ended = end;
            if (ended != null) {
                // Not from this thread: if the callback runs at once, it would hold the case itself.
                Task<Integer> unused = nodes.start("brake", () -> {
                    ended.queuePair().disconnect();
                    return 0;
                });
                Objects.requireNonNull(unused);
                nodes.require(isHeld(), "the device's thread cannot be held");
            }
        }

        void release() {
            released.set(true);
        }

        private boolean isHeld() {
            long endNs = nodes.nanoTime() + nodes.timeoutNs();
            while (!held.get() && nodes.nanoTime() < endNs) {
                nodes.linger(LOOK_NS);
            }
            return held.get();
        }
    }
}
