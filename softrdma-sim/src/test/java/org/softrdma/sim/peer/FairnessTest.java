package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.QueuePairLimits;

/** A peer that always has more to say does not have the engine to itself. */
class FairnessTest {
    private static final String HANDLED = "receivedSegments.write";
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(8, 8);
    private static final byte[] WRITE_OF_NOTHING = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);
    private static final int BURST_FRAMES = 10_000;
    private static final byte[] BURST = burst();
    /** More than an engine handles in one turn, and no more than kernels usually keep. */
    private static final int BURSTS = 20;

    /** Bytes of one connection that one poll may handle: a turn, and what the last call of it received beyond. */
    private static final long MOST_BYTES_A_POLL = 2 << 20;

    private static byte[] burst() {
        byte[][] frames = new byte[BURST_FRAMES][];
        Arrays.fill(frames, WRITE_OF_NOTHING);
        return TestBytes.concat(frames);
    }

    @ParameterizedTest
    @EveryTransport
    void shouldHandleABoundedAmountInOnePollWhenAPeerHasSentALot(String transport) throws Exception {
        try (TestDevice server =
                        new TestDevice("transport", transport, "progress", "manual", "socket-buffer", "4194304");
                RecordingPeer peer = new RecordingPeer(server, 0, LIMITS)) {
            // One segment comes with the handshake.
            TestDevice.await("the first segment", () -> handledInOnePoll(server) > 0);
            CompletableFuture<Void> flood = CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < BURSTS; i++) {
                            send(peer);
                        }
                    },
                    Thread::startVirtualThread);
            awaitIfTheKernelKeepsIt(flood);
            long[] handled = {0};
            TestDevice.await(() -> "the whole flood, got " + handled[0], () -> {
                long now = handledInOnePoll(server);
                handled[0] += now;
                assertTrue(
                        now * WRITE_OF_NOTHING.length <= MOST_BYTES_A_POLL,
                        () -> "one poll handled " + now + " segments of one connection");
                return handled[0] == (long) BURSTS * BURST_FRAMES;
            });
            flood.join();
        }
    }

    /** Where the kernel's limits are low the rest of the flood comes while it is being handled. */
    private static void awaitIfTheKernelKeepsIt(CompletableFuture<Void> flood) throws Exception {
        try {
            flood.get(2, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            assertTrue(!flood.isDone() || !flood.isCompletedExceptionally());
        }
    }

    private static long handledInOnePoll(TestDevice server) {
        long before = handled(server);
        assertTrue(server.listener().next(0).isEmpty());
        return handled(server) - before;
    }

    private static long handled(TestDevice server) {
        return Objects.requireNonNull(server.device().counters().get(HANDLED));
    }

    private static void send(RecordingPeer peer) {
        try {
            peer.sendBytes(BURST);
        } catch (IOException e) {
            throw new AssertionError("the device ended the flood", e);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCompleteReadsOfOthersWhenAPeerStreamsWritesOfNothing(String transport) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (TestDevice server = new TestDevice("transport", transport);
                Bystander bystander = new Bystander(server, transport);
                RecordingPeer peer = new RecordingPeer(server, 0, LIMITS)) {
            CompletableFuture<Void> flood = CompletableFuture.runAsync(
                    () -> {
                        while (!stop.get()) {
                            send(peer);
                        }
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
            try {
                for (int i = 0; i < 5; i++) {
                    long before = handled(server);
                    TestDevice.await("the flood to go on", () -> handled(server) > before + BURST_FRAMES);
                    bystander.begin();
                    bystander.finish();
                    assertTrue(!flood.isDone(), "the flood has ended");
                }
            } finally {
                stop.set(true);
            }
            flood.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
        }
    }
}
