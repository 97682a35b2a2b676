package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection that its engine cannot take is closed, counted, and no handshake any more, whatever the reason. */
class AdoptionFaultTest {
    private static final int MOST_HANDSHAKES = 16_384;
    private static final int FAULTS = 3;

    private static void fail(String kind) {
        if (kind.equals("OutOfMemoryError")) {
            throw new OutOfMemoryError("Cannot reserve 65544 bytes of direct buffer memory");
        }
        throw new IllegalStateException("a bug");
    }

    @ParameterizedTest
    @ValueSource(strings = {"OutOfMemoryError", "IllegalStateException"})
    void shouldGiveTheHandshakeBackWhenTheEngineFails(String kind) {
        try (FakeDevice device = new FakeDevice()) {
            device.beforeAdopt(() -> fail(kind));
            for (int i = 0; i < FAULTS; i++) {
                assertTrue(device.socket().isClosed(), "connection " + i);
            }
            assertEquals(FAULTS, device.counter("engineFaults"));
            assertEquals(0, device.counter("openSockets"));
            device.beforeAdopt(() -> {});
            for (int i = 0; i < MOST_HANDSHAKES; i++) {
                assertFalse(device.socket().isClosed(), "no handshake is under way but " + i);
            }
            assertTrue(device.socket().isClosed(), "one too many");
        }
    }
}
