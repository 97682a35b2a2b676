package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many seeds: their results in order, and an end that does not wait for those that nobody wants any more. */
class SeedsTest {
    private static final int MANY = 10;

    /** Seeds that run until they are interrupted, as a run on a fabric does. */
    private final AtomicInteger begun = new AtomicInteger();

    private final AtomicInteger interrupted = new AtomicInteger();

    private long untilInterrupted(long seed) {
        begun.incrementAndGet();
        try {
            assertFalse(new CountDownLatch(1).await(10, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            interrupted.incrementAndGet();
        }
        return seed;
    }

    /** Those that have begun were interrupted, and no other one was begun. */
    private void requireNoneRunsOn() {
        assertEquals(begun.get(), interrupted.get());
        assertTrue(begun.get() <= 2, begun + " seeds were begun on two threads");
    }

    @Test
    void shouldGiveResultsInTheOrderOfTheSeeds() {
        List<Long> taken = new ArrayList<>();

        new Seeds(7, MANY, 3).run(seed -> seed, (seed, result) -> {
            assertEquals(seed, result);
            taken.add(seed);
            return true;
        });

        assertEquals(MANY, taken.size());
        assertEquals(taken.stream().sorted().toList(), taken);
    }

    @Test
    void shouldFailWhenInterrupted() {
        Thread.currentThread().interrupt();

        assertThrows(
                IllegalStateException.class,
                () -> new Seeds(0, MANY, 2).run(this::untilInterrupted, (seed, result) -> true));

        assertTrue(Thread.interrupted());
        requireNoneRunsOn();
    }

    @Test
    void shouldNotWaitForOtherSeedsWhenOneFails() {
        IllegalStateException failure = new IllegalStateException("seed 0 fails");

        assertSame(
                failure,
                assertThrows(
                        IllegalStateException.class,
                        () -> new Seeds(0, MANY, 2)
                                .run(
                                        seed -> {
                                            if (seed == 0) {
                                                throw failure;
                                            }
                                            return untilInterrupted(seed);
                                        },
                                        (seed, result) -> true)));

        requireNoneRunsOn();
    }

    @Test
    void shouldNotWaitForOtherSeedsWhenNoMoreResultsAreWanted() {
        new Seeds(0, MANY, 2).run(seed -> seed == 0 ? seed : untilInterrupted(seed), (seed, result) -> false);

        requireNoneRunsOn();
    }
}
