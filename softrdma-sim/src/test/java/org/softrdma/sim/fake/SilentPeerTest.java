package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/**
 * An initiator whose peer says nothing after its reply repeats its ready-to-receive, because Linux's siw may have missed it: at
 * the times and as often as docs/reference/wire.md says, between messages, and not to a peer that speaks. Time is the test's.
 */
class SilentPeerTest {
    private static final String READY = TestBytes.hex(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
    private static final byte[] PEER_TO_PEER = Frames.mpa(
            Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 4, 4));
    private static final byte[] REVISION_1 = Frames.mpa(Frames.REPLY_KEY, 0, 1, new byte[0]);
    private static final long DEFAULT_MS = 50;
    private static final int REPEATS = 5;
    private static final long HOUR_MS = 3_600_000;

    /** A connection to a peer that has replied and says nothing. */
    private static final class Scene implements AutoCloseable {
        private final FakeDevice device;
        private final FakeSocket peer = new FakeSocket();
        private final MemoryRegion region;
        private final QueuePair pair;
        private final int requestBytes;

        Scene(byte[] reply, String... options) {
            device = new FakeDevice(options);
            region = device.region(1, 64);
            Connector connector = device.own(device.connector(peer));
            pair = device.own(device.queuePair(connector, QueuePairLimits.DEFAULT));
            requestBytes = 20 + (reply == REVISION_1 ? 0 : 4);
            peer.give(reply);
            connector.connect(ConnectionParameters.DEFAULT, Long.MAX_VALUE / 4);
            device.run();
        }

        /** What was sent behind the MPA request. */
        private String stream() {
            byte[] all = peer.sent();
            return TestBytes.hex(TestBytes.slice(all, requestBytes, all.length));
        }

        private void expect(int times, String when) {
            assertEquals(ready(times), stream(), when);
        }

        private void advance(long milliseconds) {
            device.advance(milliseconds);
            device.run();
        }

        private void send() {
            assertEquals(PostStatus.ACCEPTED, pair.postSend(7, region, 0, 64, SendFlags.SIGNALLED));
            device.run();
        }

        @Override
        public void close() {
            device.close();
        }
    }

    private static String ready(int times) {
        return String.join("", Collections.nCopies(times, READY));
    }

    private static String message(Scene scene) {
        return TestBytes.hex(Frames.fpdu(Frames.send(1, TestBytes.pattern(1, (int) scene.region.length())), false));
    }

    @ParameterizedTest
    @ValueSource(longs = {DEFAULT_MS, 1, 700})
    void shouldRepeatFiveTimesEachAfterTwiceAsLongWhenThePeerIsSilent(long firstMs) {
        String[] options = firstMs == DEFAULT_MS ? new String[0] : new String[] {"ready-repeat", "" + firstMs};
        try (Scene scene = new Scene(PEER_TO_PEER, options)) {
            scene.expect(1, "behind the reply");
            long waitMs = firstMs;
            for (int i = 1; i <= REPEATS; i++) {
                scene.advance(waitMs - 1);
                scene.expect(i, "before repeat " + i);
                scene.advance(1);
                scene.expect(i + 1, "repeat " + i + " after " + waitMs + " ms");
                waitMs *= 2;
            }
            scene.advance(HOUR_MS);
            scene.expect(REPEATS + 1, "after the last repeat");
        }
    }

    @Test
    void shouldNotRepeatToAPeerThatHasSpoken() {
        try (Scene scene = new Scene(PEER_TO_PEER)) {
            scene.advance(DEFAULT_MS);
            scene.expect(2, "a silent peer");
            scene.peer.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
            scene.device.run();
            scene.advance(HOUR_MS);
            scene.expect(2, "a peer that has spoken");
        }
    }

    @Test
    void shouldNotRepeatWhenSwitchedOff() {
        try (Scene scene = new Scene(PEER_TO_PEER, "ready-repeat", "0")) {
            scene.advance(HOUR_MS);
            scene.expect(1, "ready-repeat=0");
        }
    }

    /** There is no ready-to-receive at revision 1, but the first SEND may be missed as well; a WRITE of no bytes shows it. */
    @Test
    void shouldShowThePeerTheFirstSendAgainAtRevision1() {
        try (Scene scene = new Scene(REVISION_1, "mpa-revision", "1")) {
            scene.expect(0, "behind the reply");
            scene.send();
            assertEquals(message(scene), scene.stream());
            scene.advance(DEFAULT_MS);
            assertEquals(message(scene) + READY, scene.stream());
        }
    }

    @Test
    void shouldRepeatBetweenMessagesOnlyWhenOneIsHalfSent() {
        try (Scene scene = new Scene(PEER_TO_PEER)) {
            AtomicInteger calls = new AtomicInteger();
            scene.peer.taking(offered -> {
                if (calls.incrementAndGet() == 2) {
                    scene.device.advance(DEFAULT_MS); // in the middle of the message
                }
                return Math.min(offered, 5);
            });
            scene.send();
            assertEquals(READY + message(scene) + READY, scene.stream());
            assertEquals(List.of(CompletionStatus.SUCCESS), scene.device.drain());
        }
    }

    @Test
    void shouldNotRepeatOnAConnectionThatHasEnded() {
        try (Scene scene = new Scene(PEER_TO_PEER)) {
            scene.pair.disconnect();
            scene.device.run();
            scene.advance(HOUR_MS);
            scene.expect(1, "a connection that has ended");
        }
    }
}
