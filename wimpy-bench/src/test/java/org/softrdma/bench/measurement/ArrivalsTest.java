package org.softrdma.bench.measurement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ArrivalsTest {
    private static final long START = -5;

    @Test
    void shouldBeDueAllTheTimeIfClosed() {
        Arrivals arrivals = Arrivals.closed(100);
        arrivals.start(START);
        assertTrue(arrivals.isDue(START));
        assertEquals(START + 7, arrivals.take(START + 7));
        assertTrue(arrivals.isDue(START + 99));
        assertFalse(arrivals.isDue(START + 100));
        assertTrue(arrivals.isOver(START + 100));
    }

    @Test
    void shouldKeepTheRateAndTheIntendedStartIfOpen() {
        Arrivals arrivals = Arrivals.open(1e8, 30); // every 10 ns
        arrivals.start(START);
        assertEquals(START, arrivals.take(START + 1));
        assertFalse(arrivals.isDue(START + 9));
        assertTrue(arrivals.isDue(START + 10));
        // A stall: both that were missed are due, from when they were to start.
        assertEquals(START + 10, arrivals.take(START + 500));
        assertFalse(arrivals.isOver(START + 500));
        assertEquals(START + 20, arrivals.take(START + 500));
        assertFalse(arrivals.isDue(START + 500));
        assertTrue(arrivals.isOver(START + 500));
    }

    @Test
    void shouldGiveUpIfNothingCanStart() {
        Arrivals arrivals = Arrivals.open(1e8, 30);
        arrivals.start(START);
        long late = START + 30 + 9_000_000_000L;
        assertTrue(arrivals.isDue(late));
        assertFalse(arrivals.isDue(late + 1_000_000_000L));
        assertTrue(arrivals.isOver(late + 1_000_000_000L));
    }

    @Test
    void shouldRefuseRateThatIsNone() {
        assertThrows(IllegalArgumentException.class, () -> Arrivals.open(0, 1));
        assertThrows(IllegalArgumentException.class, () -> Arrivals.open(Double.NaN, 1));
    }
}
