package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;

/** Connections that say nothing cost a bounded number of handshakes; those beyond it are closed and counted. */
class HandshakeLimitTest {
    private static final int MOST_HANDSHAKES = 16_384;

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
}
