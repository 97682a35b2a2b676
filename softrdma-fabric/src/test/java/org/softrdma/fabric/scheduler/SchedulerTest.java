package org.softrdma.fabric.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scheduler alone: threads, time, and how a run ends. */
class SchedulerTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final Group node = new Group("node");

    private static Scheduler scheduler(long seed) {
        return new Scheduler(new Choices(seed), Scheduler.Limits.DEFAULT);
    }

    /** Two processes that write into one list; what is in it says who ran when. */
    private List<String> order(Scheduler scheduler) {
        List<String> order = new ArrayList<>();
        scheduler.run(node, "main", () -> {
            for (String name : List.of("one", "two", "three")) {
                scheduler.start(node, name, Group.Kind.PROCESS, () -> {
                    for (int i = 0; i < 20; i++) {
                        order.add(name + i);
                        scheduler.step();
                    }
                });
            }
        });
        return order;
    }

    @Test
    void shouldDoTheSameBySameSeed() {
        Scheduler first = scheduler(7);
        Scheduler second = scheduler(7);

        assertEquals(order(first), order(second));
        assertEquals(first.trace().hash(), second.trace().hash());
    }

    @Test
    void shouldDoOtherThingsByOtherSeeds() {
        Set<List<String>> orders = new HashSet<>();
        Set<Long> hashes = new HashSet<>();
        for (int seed = 0; seed < 20; seed++) {
            Scheduler scheduler = scheduler(seed);
            orders.add(order(scheduler));
            hashes.add(scheduler.trace().hash());
        }

        assertEquals(20, orders.size());
        assertEquals(20, hashes.size());
    }

    @Test
    void shouldLetTimePassOnlyByItsOwnClock() {
        Scheduler scheduler = scheduler(1);
        long startNs = System.nanoTime();

        scheduler.run(node, "main", () -> {
            long beforeNs = scheduler.nanoTime();
            scheduler.sleep(3600 * SECOND_NS);
            assertTrue(scheduler.nanoTime() - beforeNs >= 3600 * SECOND_NS);
        });

        assertTrue(System.nanoTime() - startNs < 600 * SECOND_NS, "an hour of virtual time took as long");
    }

    /** It would hand over in the middle of choosing, and the run would hang. */
    @Test
    void shouldRefuseAConditionThatWaits() {
        Scheduler scheduler = scheduler(3);

        SimulationException refused = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "main", () -> {
                    boolean ignored = scheduler.until(
                            () -> {
                                scheduler.sleep(1);
                                return false;
                            },
                            SECOND_NS);
                }));

        assertTrue(String.valueOf(refused.getMessage()).contains("must not wait"), refused::toString);
    }

    @Test
    void shouldEndAWaitWhenTheConditionHoldsAndNotBefore() {
        Scheduler scheduler = scheduler(3);
        boolean[] flag = new boolean[1];

        scheduler.run(node, "main", () -> {
            scheduler.start(node, "setter", Group.Kind.PROCESS, () -> {
                scheduler.sleep(SECOND_NS);
                flag[0] = true;
            });
            long beforeNs = scheduler.nanoTime();
            assertTrue(scheduler.until(() -> flag[0], 10 * SECOND_NS));
            long tookNs = scheduler.nanoTime() - beforeNs;
            assertTrue(tookNs >= SECOND_NS && tookNs < 2 * SECOND_NS, "waited " + tookNs + " ns");
            assertFalse(scheduler.until(() -> false, SECOND_NS));
        });
    }

    @Test
    void shouldLetOneThatPollsSeeWhatAnotherWritesAtItsTime() {
        Scheduler scheduler = scheduler(4);
        int[] word = new int[1];

        scheduler.run(node, "main", () -> {
            scheduler.start(node, "writer", Group.Kind.PROCESS, () -> {
                scheduler.sleep(5 * SECOND_NS);
                word[0] = 1;
            });
            while (word[0] == 0) {
                scheduler.idle();
            }
            assertTrue(scheduler.nanoTime() >= 6 * SECOND_NS);
        });
    }

    @Test
    void shouldLetOneThatPollsReachItsDeadlineAlone() {
        Scheduler scheduler = scheduler(5);

        scheduler.run(node, "main", () -> {
            long endNs = scheduler.nanoTime() + 30 * SECOND_NS;
            while (scheduler.nanoTime() < endNs) {
                scheduler.idle();
            }
        });

        assertTrue(
                scheduler.trace().steps() < 2000,
                "30 s took " + scheduler.trace().steps() + " steps");
    }

    @Test
    void shouldSayWhoWaitsWhenNobodyCanGoOn() {
        Scheduler scheduler = scheduler(6);

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "main", () -> scheduler.until(() -> false, Source.NEVER)));

        assertTrue(String.valueOf(failure.getMessage()).contains("nobody can go on"), failure.getMessage());
        assertTrue(String.valueOf(failure.getMessage()).startsWith("seed 6: "), failure.getMessage());
    }

    @Test
    void shouldEndTheRunWithWhatAProcessThrows() {
        Scheduler scheduler = scheduler(8);
        IllegalStateException thrown = new IllegalStateException("a test's");

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "main", () -> {
                    scheduler.start(node, "other", Group.Kind.PROCESS, () -> {
                        throw thrown;
                    });
                    scheduler.sleep(SECOND_NS);
                }));

        assertSame(thrown, failure.getCause());
        assertEquals(8, failure.seed());
    }

    @Test
    void shouldReportAThreadThatBlocksOutside() {
        Scheduler scheduler = new Scheduler(
                new Choices(9), new Scheduler.Limits(1000, SECOND_NS * 3600, TimeUnit.MILLISECONDS.toNanos(200), 250));
        CountDownLatch never = new CountDownLatch(1);

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "main", () -> {
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
        never.countDown();

        assertTrue(String.valueOf(failure.getMessage()).contains("blocks or loops"), failure.getMessage());
        assertTrue(String.valueOf(failure.getMessage()).contains("node/main"), failure.getMessage());
    }

    /** On a busy machine a run may take many times as long: only steps and virtual time say that it has no end. */
    @Test
    void shouldWaitForARunAsLongAsItMoves() throws InterruptedException {
        AtomicLong turns = new AtomicLong();
        AtomicInteger looks = new AtomicInteger();

        assertTrue(Scheduler.endsWhileItMoves(
                () -> turns.incrementAndGet() > 0 && looks.incrementAndGet() == 5, turns::get));
        assertEquals(5, looks.get());
        assertFalse(Scheduler.endsWhileItMoves(() -> looks.incrementAndGet() == 0, turns::get));
        assertEquals(6, looks.get());
    }

    @Test
    void shouldEndARunThatNeverEnds() {
        Scheduler scheduler =
                new Scheduler(new Choices(10), new Scheduler.Limits(5000, Long.MAX_VALUE, 100 * SECOND_NS, 1000));

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "main", () -> {
                    while (true) {
                        scheduler.sleep(1);
                    }
                }));

        assertTrue(String.valueOf(failure.getMessage()).contains("no end after"), failure.getMessage());
    }

    @Test
    void shouldKillTheThreadsOfOneGroupOnly() {
        Scheduler scheduler = scheduler(11);
        Group victim = new Group("victim");
        List<String> seen = new ArrayList<>();

        scheduler.run(node, "main", () -> {
            SimulatedThread doomed = scheduler.start(victim, "doomed", Group.Kind.PROCESS, () -> {
                try {
                    scheduler.sleep(10 * SECOND_NS);
                    seen.add("survived");
                } finally {
                    seen.add("unwound");
                }
            });
            scheduler.sleep(SECOND_NS);
            victim.kill();
            assertTrue(scheduler.until(doomed::isEnded, SECOND_NS));
            seen.add("main");
        });

        assertEquals(List.of("unwound", "main"), seen);
    }

    @Test
    void shouldNotFailByWhatComesOfUnwinding() {
        Scheduler scheduler = scheduler(13);
        Group victim = new Group("victim");

        scheduler.run(node, "main", () -> {
            SimulatedThread doomed = scheduler.start(victim, "doomed", Group.Kind.PROCESS, () -> {
                try {
                    scheduler.sleep(10 * SECOND_NS);
                } catch (Unwinding e) {
                    throw new IllegalStateException("a close that failed because the node is dead", e);
                }
            });
            scheduler.sleep(SECOND_NS);
            victim.kill();
            assertTrue(scheduler.until(doomed::isEnded, SECOND_NS));
        });
    }

    @Test
    void shouldEndAWaitByInterruptAlsoWhenTheParkedThreadHasNoticed() {
        Scheduler scheduler = scheduler(13);

        scheduler.run(node, "main", () -> {
            boolean[] interrupted = new boolean[1];
            SimulatedThread waiting = scheduler.start(node, "waiting", Group.Kind.PROCESS, () -> {
                boolean ignored = scheduler.until(() -> false, Long.MAX_VALUE);
                interrupted[0] = Thread.interrupted();
            });
            scheduler.sleep(SECOND_NS);
            waiting.thread().interrupt();
            while (waiting.thread().isInterrupted()) {
                Thread.yield(); // it wakes up out of its turn, takes the interrupt, and parks again
            }
            assertTrue(scheduler.until(waiting::isEnded, SECOND_NS));
            assertTrue(interrupted[0]);
        });
    }

    @Test
    void shouldPauseTheProcessesOfAGroupAndNotItsLoops() {
        Scheduler scheduler = scheduler(12);
        Group paused = new Group("paused");
        int[] turns = new int[1];

        scheduler.run(node, "main", () -> {
            scheduler.start(paused, "loop", Group.Kind.LOOP, () -> {
                while (true) {
                    scheduler.sleep(SECOND_NS);
                    turns[0]++;
                }
            });
            long untilNs = scheduler.nanoTime() + 10 * SECOND_NS;
            paused.pause(Group.Kind.PROCESS, untilNs);
            SimulatedThread process = scheduler.start(
                    paused, "process", Group.Kind.PROCESS, () -> assertTrue(scheduler.nanoTime() >= untilNs));
            scheduler.until(process::isEnded, 60 * SECOND_NS);
            assertTrue(process.isEnded());
            assertTrue(turns[0] >= 8, turns[0] + " turns of the loop in 10 s");
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldTakeAnyNumberAsASeed(long seed) {
        assertNotEquals(0, order(scheduler(seed)).size());
    }

    /** Its own exception was on its way, in the close of a resource that waits, when another process failed. */
    @Test
    void shouldTellWhatOtherProcessesWereThrowing() {
        Scheduler scheduler = scheduler(8);

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "client", () -> {
                    scheduler.start(node, "server", Group.Kind.PROCESS, () -> {
                        scheduler.sleep(SECOND_NS);
                        throw new IllegalStateException("no client came");
                    });
                    scheduler.start(node, "bystander", Group.Kind.PROCESS, () -> {
                        try {
                            scheduler.sleep(9 * SECOND_NS);
                        } catch (Unwinding e) {
                            throw new IllegalStateException("a bystander was unwound", e);
                        }
                    });
                    try (Closing waits = () -> scheduler.sleep(9 * SECOND_NS)) {
                        assertSame(waits, waits);
                        throw new IllegalArgumentException("nobody listens");
                    }
                }));

        assertEquals(
                "no client came", Objects.requireNonNull(failure.getCause()).getMessage());
        assertEquals(
                List.of("java.lang.IllegalArgumentException: nobody listens"),
                Stream.of(failure.getSuppressed()).map(Throwable::toString).toList());
        assertFalse(String.valueOf(failure.getMessage()).contains("threads:"), "none of them lives any more");
    }

    private interface Closing extends AutoCloseable {
        @Override
        void close();
    }

    @Test
    void shouldTellOfThreadsThatAreNotItsOwn() {
        Scheduler scheduler = scheduler(9);
        List<Throwable> told = new CopyOnWriteArrayList<>();

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> scheduler.run(node, "main", () -> {
                    Thread stranger = Thread.ofPlatform()
                            .name("stranger")
                            .uncaughtExceptionHandler((_, e) -> told.add(e))
                            .start(scheduler::idle);
                    join(stranger);
                    throw new IllegalArgumentException("nobody answered");
                }));

        assertEquals(1, told.size());
        assertSame(told.getFirst(), failure.getSuppressed()[0]);
        assertTrue(String.valueOf(told.getFirst().getMessage()).contains("\"stranger\""), told::toString);
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
