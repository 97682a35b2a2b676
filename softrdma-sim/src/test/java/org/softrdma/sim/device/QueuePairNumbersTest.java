package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class QueuePairNumbersTest {
    private static final int LARGEST = 0xFF_FFFF;

    @Test
    void shouldSkipZeroAndLiveNumbersWhenTheyComeRound() {
        QueuePairNumbers numbers = new QueuePairNumbers(1);
        assertEquals(1, numbers.take());
        assertEquals(2, numbers.take());
        assertEquals(3, numbers.take());
        numbers.giveBack(2);
        for (int i = 4; i <= LARGEST; i++) {
            assertEquals(i, numbers.take());
            numbers.giveBack(i);
        }

        assertEquals(2, numbers.take());
        assertEquals(4, numbers.take());
    }
}
