package org.softrdma.sim.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.fabric.memory.Grains;
import org.softrdma.sim.peer.ChildJvm;

/** One seed gives one run: in one JVM as often as you like, beside others, and in any other JVM. */
class DeterminismTest {
    private static final long SEED = 20_131;
    private static final int TIMES = 1000;
    private static final int JVMS = 30;
    private static final int AT_ONCE = 4;
    private static final FabricSettings SETTINGS = FabricSettings.DEFAULT.with(Grains.WORDS);

    /** Prints the hash of the run, for a JVM of its own. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) {
            System.out.println("hash " + hash());
        }
    }

    private static long hash() {
        Traffic traffic = new Traffic(SEED, SETTINGS);
        traffic.run();
        return traffic.hash();
    }

    private static void requireSameInFreshJvms(int jvms) {
        String expected = "hash " + hash();
        for (int i = 0; i < jvms; i++) {
            // Another heap and another order of classes, as another machine has.
            List<String> options = List.of("-Xmx" + (64 + 8 * i) + "m", i % 2 == 0 ? "-Xint" : "-XX:+UseParallelGC");
            ChildJvm.Outcome outcome = ChildJvm.run(List.of(), options, Child.class);
            assertEquals(expected, String.join("\n", outcome.lines()), "in JVM " + i);
        }
    }

    @Test
    void shouldDoTheSameAThousandTimes() {
        long expected = hash();
        for (int i = 1; i < TIMES; i++) {
            assertEquals(expected, hash(), "run " + i);
        }
    }

    /** All have their memory at the same time, so at different places. */
    @Test
    void shouldDoTheSameWhileOthersRun() throws Exception {
        long expected = hash();
        CyclicBarrier mapped = new CyclicBarrier(AT_ONCE);
        Set<Long> places = ConcurrentHashMap.newKeySet();
        List<Future<Long>> hashes = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(AT_ONCE)) {
            for (int i = 0; i < AT_ONCE; i++) {
                hashes.add(executor.submit(() -> {
                    Traffic traffic = new Traffic(SEED, SETTINGS);
                    traffic.run(() -> mapped.await(30, TimeUnit.SECONDS));
                    places.add(traffic.mappedAt());
                    return traffic.hash();
                }));
            }
            for (Future<Long> hash : hashes) {
                assertEquals(expected, hash.get());
            }
        }
        assertEquals(AT_ONCE, places.size(), () -> "memory was mapped at " + places);
    }

    @Test
    void shouldDoTheSameInAFreshJvm() {
        requireSameInFreshJvms(2);
    }

    @Tag("slow")
    @Test
    void shouldDoTheSameInManyFreshJvms() {
        requireSameInFreshJvms(JVMS);
    }
}
