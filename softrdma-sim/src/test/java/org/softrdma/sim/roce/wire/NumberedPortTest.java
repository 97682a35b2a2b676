package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Every number belongs to one port, and every port has numbers of its own. */
class NumberedPortTest {
    private static final int KERNELS_NUMBERS = 1 << 17;

    @Test
    void shouldFindEachPortByItsNumbers() {
        for (int i = 0; i <= NumberedPort.COUNT; i++) {
            int port = NumberedPort.at(i);
            int least = NumberedPort.leastNumber(port);
            int below = NumberedPort.numbersBelow(port);
            assertTrue(least > 1 && least < below && below <= 1 << 24, "port " + port);
            assertEquals(port, NumberedPort.of(least));
            assertEquals(port, NumberedPort.of(below - 1));
            assertTrue(i == 0 || NumberedPort.of(least - 1) != port, "port " + port);
        }
    }

    @Test
    void shouldTakeKernelsAndOtherDevicesForThoseOfTheUsualPort() {
        assertEquals(4791, NumberedPort.of(17));
        assertEquals(4791, NumberedPort.of(KERNELS_NUMBERS));
        assertEquals(4791, NumberedPort.of(0xEF_FFFF));
        assertEquals(4791, NumberedPort.of(0xF0_0FFF));
        assertEquals(0x8001, NumberedPort.of(0xF0_1000));
        assertEquals(4791, NumberedPort.of(0xFF_FFFF)); // of a group
        assertEquals(NumberedPort.leastNumber(4791), NumberedPort.leastNumber(30_000));
        assertEquals(NumberedPort.numbersBelow(4791), NumberedPort.numbersBelow(0x8100));
    }
}
