package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Connections that say nothing cost a bounded number of handshakes and time; those beyond it are closed and counted. */
class HandshakeLimitTest {
    private static final int MOST_HANDSHAKES = 16_384;
    private static final int PEER_TO_PEER = Frames.PEER_TO_PEER | Frames.RTR_WRITE;
    private static final long SECOND_LOOK_MS = 10;
    private static final long TIMEOUT_MS = 10_000;

    @Test
    void shouldCloseAndCountConnectionsBeyondTheMostHandshakes() {
        try (FakeDevice device = new FakeDevice()) {
            FakeSocket first = device.socket();
            for (int i = 1; i < MOST_HANDSHAKES; i++) {
                assertFalse(device.socket().isClosed(), "connection " + i);
            }
            assertTrue(device.socket().isClosed(), "one too many");
            assertTrue(device.socket().isClosed(), "two too many");
            assertEquals(2, device.counter("handshakeErrors"));

            QueuePair pair = device.connect(first, new QueuePairLimits(1, 1, 1, 1, 0), 1);
            assertFalse(device.socket().isClosed(), "there is room again");
            pair.close();
        }
    }

    private static QueuePair accept(FakeDevice device, FakeSocket socket, int depths) {
        socket.give(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(depths, 1, 1)));
        device.run();
        ConnectionRequest request = device.request().orElseThrow();
        QueuePair pair = device.own(device.queuePair(request, new QueuePairLimits(1, 1, 1, 1, 0)));
        request.accept(ConnectionParameters.DEFAULT);
        return pair;
    }

    @Test
    void shouldResetAPeerThatIsNotReadyInTime() {
        try (FakeDevice device = new FakeDevice("host-timeout", "0")) {
            FakeSocket socket = device.socket();
            QueuePair pair = accept(device, socket, PEER_TO_PEER);
            device.advance(TIMEOUT_MS - 1);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
            device.advance(1);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state(), "it looks at what came first");
            device.advance(SECOND_LOOK_MS);
            assertEquals(QueuePairState.ERROR, pair.state());
            assertTrue(socket.isClosed());
            assertEquals(1, device.counter("handshakeErrors"));
        }
    }

    @Test
    void shouldGiveAPeerThatIsReadyAllTheTimeItWants() {
        try (FakeDevice device = new FakeDevice("host-timeout", "0")) {
            FakeSocket socket = device.socket();
            QueuePair pair = accept(device, socket, PEER_TO_PEER);
            socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
            device.run();
            device.advance(100 * TIMEOUT_MS);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
            assertEquals(0, device.counter("handshakeErrors"));
        }
    }

    /** An initiator whose peer is silent says again that it is ready: nobody has written anything. */
    @Test
    void shouldNotCountThatAPeerIsReadyAsAWrite() {
        try (FakeDevice device = new FakeDevice("host-timeout", "0")) {
            FakeSocket socket = device.socket();
            QueuePair pair = accept(device, socket, PEER_TO_PEER);
            for (int i = 0; i < 3; i++) {
                socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
            }
            device.run();
            assertEquals(0, device.counter("responderWrites"));
            socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 7, 0), false));
            device.run();
            assertEquals(1, device.counter("responderWrites"));
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        }
    }

    /** The first message is its application's then, which may have nothing to say. */
    @Test
    void shouldGiveAPeerThatNeedNotBeReadyFirstAllTheTimeItWants() {
        try (FakeDevice device = new FakeDevice("host-timeout", "0")) {
            QueuePair pair = accept(device, device.socket(), 0);
            device.advance(100 * TIMEOUT_MS);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        }
    }
}
