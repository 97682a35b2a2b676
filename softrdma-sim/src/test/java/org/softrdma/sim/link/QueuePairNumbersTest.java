package org.softrdma.sim.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Set;
import java.util.random.RandomGenerator;
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

    @Test
    void shouldNotHandOutANumberWhileAPeerMayKnowIt() {
        QueuePairNumbers numbers = new QueuePairNumbers(1, NumberReuse.AT_ONCE);
        assertEquals(1, numbers.take());
        numbers.keep(1);
        numbers.giveBack(1);
        assertEquals(2, numbers.take());
        numbers.giveBack(1);
        assertEquals(1, numbers.take());
    }

    /** Without memory an end must be an end all the same. */
    @Test
    void shouldNeedNoMemoryToGiveANumberBack() {
        QueuePairNumbers numbers = new QueuePairNumbers(1000, NumberReuse.LATE);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long fewest = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
            int first = numbers.take();
            for (int i = 1; i < 1000; i++) {
                assertEquals(first + i, numbers.take());
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1000; i++) {
                numbers.giveBack(first + i);
            }
            fewest = Math.min(fewest, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, fewest, "bytes for 1000 numbers");
    }

    @Test
    void shouldDrawEachNumberOnceWhenTheSourceRepeatsItself() {
        long[] drawn = {0};
        QueuePairNumbers numbers = new QueuePairNumbers(1, NumberReuse.LATE);
        numbers.drawFrom(
                new RandomGenerator() {
                    @Override
                    public long nextLong() {
                        return (drawn[0]++ / 2) << 50; // each twice
                    }
                },
                2,
                LARGEST);
        Set<Integer> taken = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            int number = numbers.take();
            assertTrue(number >= 2 && number <= LARGEST && taken.add(number), "number " + number);
        }
    }
}
