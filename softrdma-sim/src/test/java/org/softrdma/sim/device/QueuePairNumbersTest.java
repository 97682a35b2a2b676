package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.softrdma.sim.memory.NumberReuse;

class QueuePairNumbersTest {
    private static final int LARGEST = 0xFF_FFFF;

    @Test
    void shouldSkipZeroAndLiveNumbersWhenTheyComeRound() {
        QueuePairNumbers numbers = new QueuePairNumbers(1, NumberReuse.LATE);
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

    @Test
    void shouldUseTheLastNumberAgainAtOnceWhereItIsTo() {
        QueuePairNumbers numbers = new QueuePairNumbers(1, NumberReuse.AT_ONCE);
        assertEquals(1, numbers.take());
        assertEquals(2, numbers.take());
        assertEquals(3, numbers.take());
        numbers.giveBack(1);
        numbers.giveBack(3);
        numbers.giveBack(3);

        assertEquals(3, numbers.take());
        assertEquals(1, numbers.take());
        assertEquals(4, numbers.take());
    }
}
