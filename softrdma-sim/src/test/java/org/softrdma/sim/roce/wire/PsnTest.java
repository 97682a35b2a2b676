package org.softrdma.sim.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequence numbers where they wrap, and where before becomes after; timers by code. */
class PsnTest {
    private static final int HALF = 1 << 23;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, HALF - 1, HALF, HALF + 1, Psn.MASK})
    void shouldOrderNumbersLessThanHalfARoundApart(int psn) {
        assertFalse(Psn.isBefore(psn, psn));
        for (int steps : new int[] {1, 2, HALF - 1}) {
            assertTrue(Psn.isBefore(psn, Psn.plus(psn, steps)));
            assertFalse(Psn.isBefore(Psn.plus(psn, steps), psn));
            assertEquals(steps, Psn.distance(psn, Psn.plus(psn, steps)));
            assertEquals(-steps, Psn.distance(Psn.plus(psn, steps), psn));
            assertEquals(psn, Psn.plus(Psn.plus(psn, steps), -steps));
        }
        assertEquals(-HALF, Psn.distance(psn, Psn.plus(psn, HALF)));
    }

    @Test
    void shouldWrapAtTwentyFourBits() {
        assertEquals(0, Psn.plus(Psn.MASK, 1));
        assertEquals(Psn.MASK, Psn.plus(0, -1));
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "1024, 1", "1025, 2", "65536, 64", "2147483648, 2097152"})
    void shouldCountThePacketsOfAMessage(long length, int packets) {
        assertEquals(packets, Psn.packets(length, 1_024));
    }

    @ParameterizedTest
    @CsvSource({"0, 655360000", "1, 10000", "5, 60000", "12, 640000", "14, 1280000", "24, 40960000", "31, 491520000"})
    void shouldKnowTheTimersOfTheSpecification(int code, long nanos) {
        assertEquals(nanos, RnrTimer.nanos(code));
        assertEquals(code, RnrTimer.code(nanos));
    }

    @Test
    void shouldChooseTheShortestTimerThatIsLongEnough() {
        assertEquals(1, RnrTimer.code(0));
        assertEquals(2, RnrTimer.code(10_001));
        assertEquals(0, RnrTimer.code(491_520_001));
        assertEquals(0, RnrTimer.code(Long.MAX_VALUE));
    }

    @Test
    void shouldTellTheKindsOfSyndromes() {
        for (int syndrome = 0; syndrome < 256; syndrome++) {
            int kinds = (Aeth.isAcknowledged(syndrome) ? 1 : 0)
                    + (Aeth.isReceiverNotReady(syndrome) ? 1 : 0)
                    + (Aeth.isNak(syndrome) ? 1 : 0);
            assertEquals(syndrome < 0x40 || (syndrome >= 0x60 && syndrome < 0x80) ? 1 : 0, kinds);
        }
        assertTrue(Aeth.isReceiverNotReady(Aeth.receiverNotReady(14)));
        assertEquals(14, Aeth.value(Aeth.receiverNotReady(14)));
    }
}
