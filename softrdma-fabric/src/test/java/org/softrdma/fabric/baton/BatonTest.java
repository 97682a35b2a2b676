package org.softrdma.fabric.baton;

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

/** The baton alone: threads, time, and how a run ends. */
class BatonTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final Group node = new Group("node");

    private static Baton baton(long seed) {
        return new Baton(new Choices(seed), Baton.Limits.DEFAULT);
    }

    /** Two processes that write into one list; what is in it says who ran when. */
    private List<String> order(Baton baton) {
        List<String> order = new ArrayList<>();
        baton.run(node, "main", () -> {
            for (String name : List.of("one", "two", "three")) {
                baton.start(node, name, Group.Kind.PROCESS, () -> {
                    for (int i = 0; i < 20; i++) {
                        order.add(name + i);
                        baton.step();
                    }
                });
            }
        });
        return order;
    }

    @Test
    void shouldDoTheSameBySameSeed() {
        Baton first = baton(7);
        Baton second = baton(7);

        assertEquals(order(first), order(second));
        assertEquals(first.trace().hash(), second.trace().hash());
    }

    @Test
    void shouldDoOtherThingsByOtherSeeds() {
        Set<List<String>> orders = new HashSet<>();
        Set<Long> hashes = new HashSet<>();
        for (int seed = 0; seed < 20; seed++) {
            Baton baton = baton(seed);
            orders.add(order(baton));
            hashes.add(baton.trace().hash());
        }

        assertEquals(20, orders.size());
        assertEquals(20, hashes.size());
    }

    @Test
    void shouldLetTimePassOnlyByItsOwnClock() {
        Baton baton = baton(1);
        long startNs = System.nanoTime();

        baton.run(node, "main", () -> {
            long beforeNs = baton.nanoTime();
            baton.sleep(3600 * SECOND_NS);
            assertTrue(baton.nanoTime() - beforeNs >= 3600 * SECOND_NS);
        });

        assertTrue(System.nanoTime() - startNs < 600 * SECOND_NS, "an hour of virtual time took as long");
    }

    @Test
    void shouldEndAWaitWhenTheConditionHoldsAndNotBefore() {
        Baton baton = baton(3);
        boolean[] flag = new boolean[1];

        baton.run(node, "main", () -> {
            baton.start(node, "setter", Group.Kind.PROCESS, () -> {
                baton.sleep(SECOND_NS);
                flag[0] = true;
            });
            long beforeNs = baton.nanoTime();
            assertTrue(baton.until(() -> flag[0], 10 * SECOND_NS));
            long tookNs = baton.nanoTime() - beforeNs;
            assertTrue(tookNs >= SECOND_NS && tookNs < 2 * SECOND_NS, "waited " + tookNs + " ns");
            assertFalse(baton.until(() -> false, SECOND_NS));
        });
    }

    @Test
    void shouldLetOneThatPollsSeeWhatAnotherWritesAtItsTime() {
        Baton baton = baton(4);
        int[] word = new int[1];

        baton.run(node, "main", () -> {
            baton.start(node, "writer", Group.Kind.PROCESS, () -> {
                baton.sleep(5 * SECOND_NS);
                word[0] = 1;
            });
            while (word[0] == 0) {
                baton.idle();
            }
            assertTrue(baton.nanoTime() >= 6 * SECOND_NS);
        });
    }

    @Test
    void shouldLetOneThatPollsReachItsDeadlineAlone() {
        Baton baton = baton(5);

        baton.run(node, "main", () -> {
            long endNs = baton.nanoTime() + 30 * SECOND_NS;
            while (baton.nanoTime() < endNs) {
                baton.idle();
            }
        });

        assertTrue(baton.trace().steps() < 2000, "30 s took " + baton.trace().steps() + " steps");
    }

    @Test
    void shouldSayWhoWaitsWhenNobodyCanGoOn() {
        Baton baton = baton(6);

        SimulationException failure = assertThrows(
                SimulationException.class, () -> baton.run(node, "main", () -> baton.until(() -> false, Source.NEVER)));

        assertTrue(String.valueOf(failure.getMessage()).contains("nobody can go on"), failure.getMessage());
        assertTrue(String.valueOf(failure.getMessage()).startsWith("seed 6: "), failure.getMessage());
    }

    @Test
    void shouldEndTheRunWithWhatAProcessThrows() {
        Baton baton = baton(8);
        IllegalStateException thrown = new IllegalStateException("a test's");

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> baton.run(node, "main", () -> {
                    baton.start(node, "other", Group.Kind.PROCESS, () -> {
                        throw thrown;
                    });
                    baton.sleep(SECOND_NS);
                }));

        assertSame(thrown, failure.getCause());
        assertEquals(8, failure.seed());
    }

    @Test
    void shouldReportAThreadThatBlocksOutside() {
        Baton baton = new Baton(
                new Choices(9), new Baton.Limits(1000, SECOND_NS * 3600, TimeUnit.MILLISECONDS.toNanos(200), 250));
        CountDownLatch never = new CountDownLatch(1);

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> baton.run(node, "main", () -> {
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

        assertTrue(
                Baton.endsWhileItMoves(() -> turns.incrementAndGet() > 0 && looks.incrementAndGet() == 5, turns::get));
        assertEquals(5, looks.get());
        assertFalse(Baton.endsWhileItMoves(() -> looks.incrementAndGet() == 0, turns::get));
        assertEquals(6, looks.get());
    }

    @Test
    void shouldEndARunThatNeverEnds() {
        Baton baton = new Baton(new Choices(10), new Baton.Limits(5000, Long.MAX_VALUE, 100 * SECOND_NS, 1000));

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> baton.run(node, "main", () -> {
                    while (true) {
                        baton.sleep(1);
                    }
                }));

        assertTrue(String.valueOf(failure.getMessage()).contains("no end after"), failure.getMessage());
    }

    @Test
    void shouldKillTheThreadsOfOneGroupOnly() {
        Baton baton = baton(11);
        Group victim = new Group("victim");
        List<String> seen = new ArrayList<>();

        baton.run(node, "main", () -> {
            SimulatedThread doomed = baton.start(victim, "doomed", Group.Kind.PROCESS, () -> {
                try {
                    baton.sleep(10 * SECOND_NS);
                    seen.add("survived");
                } finally {
                    seen.add("unwound");
                }
            });
            baton.sleep(SECOND_NS);
            victim.kill();
            assertTrue(baton.until(doomed::isEnded, SECOND_NS));
            seen.add("main");
        });

        assertEquals(List.of("unwound", "main"), seen);
    }

    @Test
    void shouldNotFailByWhatComesOfUnwinding() {
        Baton baton = baton(13);
        Group victim = new Group("victim");

        baton.run(node, "main", () -> {
            SimulatedThread doomed = baton.start(victim, "doomed", Group.Kind.PROCESS, () -> {
                try {
                    baton.sleep(10 * SECOND_NS);
                } catch (Unwinding e) {
                    throw new IllegalStateException("a close that failed because the node is dead", e);
                }
            });
            baton.sleep(SECOND_NS);
            victim.kill();
            assertTrue(baton.until(doomed::isEnded, SECOND_NS));
        });
    }

    @Test
    void shouldEndAWaitByInterruptAlsoWhenTheParkedThreadHasNoticed() {
        Baton baton = baton(13);

        baton.run(node, "main", () -> {
            boolean[] interrupted = new boolean[1];
            SimulatedThread waiting = baton.start(node, "waiting", Group.Kind.PROCESS, () -> {
                boolean ignored = baton.until(() -> false, Long.MAX_VALUE);
                interrupted[0] = Thread.interrupted();
            });
            baton.sleep(SECOND_NS);
            waiting.thread().interrupt();
            while (waiting.thread().isInterrupted()) {
                Thread.yield(); // it wakes up without the baton, takes the interrupt, and parks again
            }
            assertTrue(baton.until(waiting::isEnded, SECOND_NS));
            assertTrue(interrupted[0]);
        });
    }

    @Test
    void shouldPauseTheProcessesOfAGroupAndNotItsLoops() {
        Baton baton = baton(12);
        Group paused = new Group("paused");
        int[] turns = new int[1];

        baton.run(node, "main", () -> {
            baton.start(paused, "loop", Group.Kind.LOOP, () -> {
                while (true) {
                    baton.sleep(SECOND_NS);
                    turns[0]++;
                }
            });
            long untilNs = baton.nanoTime() + 10 * SECOND_NS;
            paused.pause(Group.Kind.PROCESS, untilNs);
            SimulatedThread process =
                    baton.start(paused, "process", Group.Kind.PROCESS, () -> assertTrue(baton.nanoTime() >= untilNs));
            baton.until(process::isEnded, 60 * SECOND_NS);
            assertTrue(process.isEnded());
            assertTrue(turns[0] >= 8, turns[0] + " turns of the loop in 10 s");
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldTakeAnyNumberAsASeed(long seed) {
        assertNotEquals(0, order(baton(seed)).size());
    }

    /** Its own exception was on its way, in the close of a resource that waits, when another process failed. */
    @Test
    void shouldTellWhatOtherProcessesWereThrowing() {
        Baton baton = baton(8);

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> baton.run(node, "client", () -> {
                    baton.start(node, "server", Group.Kind.PROCESS, () -> {
                        baton.sleep(SECOND_NS);
                        throw new IllegalStateException("no client came");
                    });
                    baton.start(node, "bystander", Group.Kind.PROCESS, () -> {
                        try {
                            baton.sleep(9 * SECOND_NS);
                        } catch (Unwinding e) {
                            throw new IllegalStateException("a bystander was unwound", e);
                        }
                    });
                    try (Closing waits = () -> baton.sleep(9 * SECOND_NS)) {
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
        Baton baton = baton(9);
        List<Throwable> told = new CopyOnWriteArrayList<>();

        SimulationException failure = assertThrows(
                SimulationException.class,
                () -> baton.run(node, "main", () -> {
                    Thread stranger = Thread.ofPlatform()
                            .name("stranger")
                            .uncaughtExceptionHandler((_, e) -> told.add(e))
                            .start(baton::idle);
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
