package org.softrdma.testkit.walk;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The model of limit events: it expects none that need not come, and forgives none that must. */
class LimitEventsTest {
    private final LimitEvents events = new LimitEvents();

    @Test
    void shouldExpectNothingWithoutALimit() {
        events.see(0, 0);

        assertFalse(events.isDue());
        assertFalse(events.take());
    }

    @Test
    void shouldExpectNothingWhileEnoughAreLeft() {
        events.arm(3);
        events.see(3, 8);

        assertFalse(events.isDue());
        assertFalse(events.take());
    }

    @Test
    void shouldAllowOneWhenFewMayBeLeft() {
        events.arm(3);
        events.see(2, 8);
        events.see(1, 8);

        assertFalse(events.isDue());
        assertTrue(events.take());
        assertFalse(events.take());
    }

    @Test
    void shouldDemandOneWhenFewAreLeft() {
        events.arm(3);
        events.see(0, 2);
        events.see(0, 1);

        assertTrue(events.isDue());
        assertTrue(events.take());
        assertFalse(events.isDue());
        assertFalse(events.take());
    }

    @Test
    void shouldDemandNoSecondOneWhenTheFirstCameEarly() {
        events.arm(3);
        events.see(2, 8);
        assertTrue(events.take());
        events.see(2, 2);

        assertFalse(events.isDue());
        assertFalse(events.take());
    }

    @Test
    void shouldForgetALimitThatIsTakenBack() {
        events.arm(3);
        events.arm(0);
        events.see(0, 0);

        assertFalse(events.isDue());
        assertFalse(events.take());
    }

    @Test
    void shouldAllowThatOfAnEarlierLimitBesideThatOfTheNext() {
        events.arm(3);
        events.see(2, 8);
        events.arm(5);
        events.see(4, 4);

        assertTrue(events.isDue());
        assertTrue(events.take());
        assertTrue(events.take());
        assertFalse(events.take());
    }
}
