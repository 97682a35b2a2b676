package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;

/** What becomes of requests when the kernel says that the peer's host is gone. Time is the test's. */
class SilentHostTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(8, 8, 1, 1, 0);
    private static final int LENGTH = 64;
    private static final byte[] FIRST = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);
    private static final long TIMEOUT_MS = 8000;
    private static final long LOOK_MS = TIMEOUT_MS / 4;

    /** A connection whose peer has spoken, and two READs that it does not answer. */
    private static final class Scene implements AutoCloseable {
        private final FakeDevice device;
        private final FakeSocket socket;
        private final QueuePair pair;

        Scene(String... options) {
            device = new FakeDevice(options);
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.RECEIVE_SINK, AccessFlag.READ_SINK);
            socket = device.socket();
            pair = device.own(device.connect(socket, LIMITS, 4));
            socket.give(FIRST);
            device.run();
            pair.postReceive(1, memory, 0, LENGTH);
            pair.postRead(2, memory, 0, LENGTH, 0x1000, 5, SendFlags.SIGNALLED);
            pair.postRead(3, memory, 0, LENGTH, 0x1000, 5, SendFlags.SIGNALLED);
            device.run();
        }

        private void advance(long milliseconds) {
            device.advance(milliseconds);
            device.run();
        }

        @Override
        public void close() {
            device.close();
        }
    }

    @Test
    void shouldFailTheOldestRequestAndFlushTheOthersWhenTheHostIsGone() {
        try (Scene scene = new Scene()) {
            scene.advance(LOOK_MS); // the first look finds that a segment has come
            scene.socket.hostSilent(true);
            scene.advance(LOOK_MS);
            assertEquals(
                    List.of(CompletionStatus.RETRY_EXCEEDED_ERROR, CompletionStatus.FLUSHED, CompletionStatus.FLUSHED),
                    scene.device.drain());
            assertEquals(QueuePairState.ERROR, scene.pair.state());
            assertTrue(scene.socket.isClosed(), "the socket is closed");
            assertEquals(1, scene.device.counter("silentHosts"));
            assertEquals(0, scene.device.counter("openSockets"));
            String reason = scene.pair.disconnected().toCompletableFuture().join();
            assertTrue(reason.contains("did not answer for 8.0 s"), reason);
        }
    }

    @Test
    void shouldAskNothingOfAConnectionThatHasJustHeardOfItsPeer() {
        try (Scene scene = new Scene()) {
            scene.socket.hostSilent(true);
            for (int i = 0; i < 10; i++) {
                scene.socket.give(FIRST);
                scene.device.run();
                scene.advance(LOOK_MS);
                assertEquals(QueuePairState.READY_TO_SEND, scene.pair.state());
            }
        }
    }

    @Test
    void shouldWaitForEverWhenSwitchedOff() {
        try (Scene scene = new Scene("host-timeout", "0")) {
            scene.socket.hostSilent(true);
            scene.advance(100 * TIMEOUT_MS);
            assertEquals(QueuePairState.READY_TO_SEND, scene.pair.state());
            assertFalse(scene.socket.isClosed());
        }
    }

    @Test
    void shouldFlushTheReceivesWhenTheHostOfAnIdlePeerIsGone() {
        try (FakeDevice device = new FakeDevice("host-timeout", "2000")) {
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.RECEIVE_SINK);
            FakeSocket socket = device.socket();
            QueuePair pair = device.own(device.connect(socket, LIMITS, 4));
            pair.postReceive(1, memory, 0, LENGTH);
            socket.hostSilent(true);
            device.advance(2000);
            assertEquals(List.of(CompletionStatus.FLUSHED), device.drain());
            assertEquals(QueuePairState.ERROR, pair.state());
        }
    }
}
