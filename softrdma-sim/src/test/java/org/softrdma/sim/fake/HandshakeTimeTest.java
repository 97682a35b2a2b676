package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * How long a peer may take for its request, and that a handshake which has failed is over: at once, counted once, whatever time passes
 * then. Time is the test's; over real sockets {@code PassiveHandshakeTest} has the same peers.
 */
class HandshakeTimeTest {
    private static final long TIMEOUT_MS = 2_000;
    private static final long HOUR_MS = 3_600_000;
    private static final long SECOND_LOOK_MS = 10;
    private static final byte[] GOOD =
            Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 16, 16, (byte) 5));

    private static final int PEER_TO_PEER = Frames.PEER_TO_PEER | Frames.RTR_WRITE;
    private static final byte[] READY = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);

    private final FakeDevice device = new FakeDevice("handshake-timeout", "" + TIMEOUT_MS);

    private void expectFailedOnce(FakeSocket peer) {
        assertTrue(peer.isClosed(), "the connection is closed");
        assertEquals(1, device.counter("handshakeErrors"));
        device.advance(HOUR_MS);
        device.run();
        assertEquals(1, device.counter("handshakeErrors"), "its timer is gone");
        assertTrue(device.request().isEmpty(), "it became a request");
        device.close();
    }

    @ParameterizedTest(name = "{0}, {2}")
    @MethodSource("org.softrdma.sim.peer.PassiveHandshakeTest#malformed")
    void shouldCloseAtOnceWithoutAReplyWhenTheRequestIsMalformed(String name, byte[] request, String transport) {
        FakeSocket peer = device.socket().give(request);
        device.run();
        assertEquals(0, peer.sent().length, "bytes sent to a peer that may speak another protocol");
        expectFailedOnce(peer);
    }

    @ParameterizedTest(name = "{0}, {3}")
    @MethodSource("org.softrdma.sim.peer.PassiveHandshakeTest#markers")
    void shouldRejectAtOnceWhenThePeerRequiresMarkers(String name, byte[] request, byte[] reply, String transport) {
        FakeSocket peer = device.socket().give(request);
        device.run();
        assertEquals(TestBytes.hex(reply), TestBytes.hex(peer.sent()));
        peer.giveEnd();
        device.run();
        expectFailedOnce(peer);
    }

    /** SoftiWARP does not find a reject whose segment also ends the stream. */
    @Test
    void shouldNotEndItsStreamBeforeThePeerHasReadTheReject() {
        FakeSocket peer = device.socket().give(GOOD);
        device.run();
        device.request().orElseThrow().reject(new byte[] {1});
        device.run();
        assertTrue(peer.sent().length > 0, "it has been rejected");
        assertFalse(peer.isOutputEnded(), "the stream has ended");
        peer.giveEnd();
        device.run();
        assertTrue(peer.isClosed(), "the peer has closed, but this side has not");
        device.close();
    }

    @Test
    void shouldCloseAtItsTimeWhenThePeerThatWasRejectedDoesNot() {
        FakeSocket peer = device.socket().give(GOOD);
        device.run();
        device.request().orElseThrow().reject(new byte[] {1});
        device.run();
        device.advance(HOUR_MS);
        device.run();
        assertTrue(peer.isClosed(), "it is open for ever");
        device.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 19, 20, 24})
    void shouldCloseWhenThePeerEndsTooEarly(int length) {
        FakeSocket peer = device.socket().give(Arrays.copyOf(GOOD, length)).giveEnd();
        device.run();
        expectFailedOnce(peer);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 19, 20, 24})
    void shouldCloseWhenThePeerResetsTooEarly(int length) {
        FakeSocket peer = device.socket().give(Arrays.copyOf(GOOD, length));
        device.run();
        peer.giveReset();
        device.run();
        expectFailedOnce(peer);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 19, 20, 24})
    void shouldCloseAtItsTimeWhenThePeerIsTooSlow(int length) {
        FakeSocket peer = device.socket();
        device.run();
        device.advance(TIMEOUT_MS / 2);
        peer.give(Arrays.copyOf(GOOD, length));
        device.run();
        device.advance(TIMEOUT_MS / 2 - 1);
        device.run();
        assertFalse(peer.isClosed(), "closed before its time");
        device.advance(1);
        device.run();
        assertFalse(peer.isClosed(), "closed before a look at what came");
        device.advance(SECOND_LOOK_MS);
        device.run();
        expectFailedOnce(peer);
    }

    /** SIGSTOP, a paused machine: the timer is due before the event loop has seen what came in time. */
    @Test
    void shouldLookAtARequestThatCameWhileItStoodStill() {
        FakeSocket peer = device.socket();
        device.run();
        peer.give(GOOD);
        device.advance(TIMEOUT_MS);
        device.run();
        assertFalse(peer.isClosed(), "the peer was in time");
        assertTrue(device.request().isPresent(), "no request");
        assertEquals(0, device.counter("handshakeErrors"));
        device.close();
    }

    @Test
    void shouldLookAtAReadyToReceiveThatCameWhileItStoodStill() {
        FakeSocket peer = device.socket()
                .give(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(PEER_TO_PEER, 16, 16)));
        device.run();
        ConnectionRequest request = device.request().orElseThrow();
        QueuePair pair = device.own(device.queuePair(request, QueuePairLimits.DEFAULT));
        request.accept(ConnectionParameters.DEFAULT);
        peer.give(READY);
        device.advance(TIMEOUT_MS);
        device.run();
        assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        assertEquals(0, device.counter("handshakeErrors"));
        device.close();
    }

    /** The caller may drive the device next when the peer has long given up. */
    @Test
    void shouldBeReadyToReceiveWhenConnectReturns() {
        FakeSocket peer = new FakeSocket()
                .give(Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(PEER_TO_PEER, 1, 1)));
        Connector connector = device.own(device.connector(peer));
        QueuePair pair = device.own(device.queuePair(connector, QueuePairLimits.DEFAULT));
        connector.connect(ConnectionParameters.ofReads(1), Long.MAX_VALUE / 4);
        assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        byte[] sent = peer.sent();
        int from = Math.max(0, sent.length - READY.length);
        assertEquals(TestBytes.hex(READY), TestBytes.hex(TestBytes.slice(sent, from, sent.length)));
        device.close();
    }
}
