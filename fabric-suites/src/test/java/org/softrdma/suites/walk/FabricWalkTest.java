package org.softrdma.suites.walk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.Seeds;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.testkit.walk.WalkReport;
import org.softrdma.testkit.walk.WalkSettings;

/** The software RNIC agrees with the model of verbs on random walks, whatever the seed does and breaks. */
class FabricWalkTest {
    private static final int WALKS = Integer.getInteger("softrdma.sample", 1) == 1 ? 200 : 60;
    private static final int OPERATIONS = 200;
    private static final int NODES = 3;
    private static final int MANY = Boolean.getBoolean("softrdma.slow.short") ? 300 : 20_000;

    private static FabricWalk walk(long seed, boolean faults) {
        return new FabricWalk(settings(seed), faults);
    }

    private static FabricWalk walkWithFeatures(long seed, boolean faults) {
        return new FabricWalk(settings(seed).withFeatures(), faults);
    }

    private static WalkSettings settings(long seed) {
        return new WalkSettings(seed, OPERATIONS, NODES, false);
    }

    /** Every second one with faults. */
    private static Map<String, Integer> walkAll(long first, int seeds) {
        return walkAll(first, seeds, FabricWalkTest::walk, "");
    }

    private static Map<String, Integer> walkAll(
            long first, int seeds, BiFunction<Long, Boolean, FabricWalk> walks, String option) {
        List<String> failures = new ArrayList<>();
        List<WalkReport> reports = new ArrayList<>();
        Seeds.of(first, seeds).run(seed -> outcome(walks.apply(seed, hasFaults(seed))), (seed, outcome) -> {
            switch (outcome) {
                case WalkReport report -> reports.add(report);
                default ->
                    failures.add(outcome + "\nagain: softrdma walk --transport fabric --seed " + seed
                            + (hasFaults(seed) ? " --faults" : "") + option);
            }
            return failures.size() < 3;
        });
        assertEquals("", String.join("\n\n", failures));
        return WalkReport.sum(reports);
    }

    private static boolean hasFaults(long seed) {
        return seed % 2 == 1;
    }

    private static Object outcome(FabricWalk walk) {
        try {
            return walk.run().report();
        } catch (SimulationException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Tag("sampled")
    @Test
    void shouldAgreeWithTheModel() {
        Map<String, Integer> counts = walkAll(0, WALKS);

        for (String seen : List.of(
                "completions SUCCESS",
                "completions FLUSHED",
                "completions LOCAL_PROTECTION_ERROR",
                "completions LOCAL_LENGTH_ERROR",
                "completions REMOTE_ACCESS_ERROR",
                "posted SEND",
                "posted READ, full",
                "rejected",
                "fault")) {
            assertTrue(counts.getOrDefault(seen, 0) > 0, "no walk has met: " + seen);
        }
    }

    @Tag("sampled")
    @Test
    void shouldAgreeWithTheModelWithFeatures() {
        Map<String, Integer> counts = walkAll(0, WALKS, FabricWalkTest::walkWithFeatures, " --features");

        for (String seen : List.of(
                "posted COMPARE_AND_SWAP",
                "posted FETCH_AND_ADD",
                "post WRITE with immediate",
                "posted BIND_WINDOW",
                "posted INVALIDATE",
                "posted SEND with invalidate",
                "posted SEND with invalidate, wrong key",
                "through a window",
                "refused by a window",
                "completions MEMORY_WINDOW_BIND_ERROR",
                "completions LOCAL_QUEUE_PAIR_OPERATION_ERROR",
                "completions REMOTE_INVALID_REQUEST_ERROR",
                "deregistration refused",
                "posted shared RECV",
                "queue pairs on shared queues",
                "event LIMIT_REACHED",
                "event LAST_REQUEST_REACHED",
                "event ACCESS_ERROR",
                "event REQUEST_ERROR",
                "resize queue",
                "reregister",
                "reregistration refused")) {
            assertTrue(counts.getOrDefault(seen, 0) > 0, "no walk has met: " + seen);
        }
    }

    @Test
    void shouldWalkWithoutWhatTheDeviceLacks() {
        Map<String, Integer> counts = walkAll(
                0,
                20,
                (seed, faults) -> new FabricWalk(
                        settings(seed).withFeatures(),
                        faults,
                        FaultPlan.NONE,
                        Map.of("profile", "siw"),
                        UnaryOperator.identity()),
                " --features --device profile=siw");

        for (String lacking :
                List.of("posted BIND_WINDOW", "allocate window", "resize queue", "reregister", "post atomic")) {
            assertFalse(counts.containsKey(lacking), lacking);
        }
        assertTrue(counts.containsKey("queue pairs on shared queues"), counts::toString);
        assertTrue(counts.containsKey("event LAST_REQUEST_REACHED"), counts::toString);
    }

    @Test
    void shouldDoTheSameBySameSeed() {
        for (long seed = 0; seed < 4; seed++) {
            assertEquals(walk(seed, true).run().hash(), walk(seed, true).run().hash(), "seed " + seed);
            assertEquals(
                    walkWithFeatures(seed, true).run().hash(),
                    walkWithFeatures(seed, true).run().hash(),
                    "with features, seed " + seed);
        }
    }

    @Test
    void shouldDoTheSameWhileOthersWalk() {
        new Seeds(0, 8, 4).run(seed -> walk(seed, true).run().hash(), (seed, hash) -> {
            assertEquals(walk(seed, true).run().hash(), hash, "seed " + seed);
            return true;
        });
    }

    @Tag("slow")
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void shouldAgreeWithTheModelByManySeeds() {
        Map<String, Integer> counts = walkAll(200, MANY);

        assertTrue(counts.getOrDefault("completions RETRY_EXCEEDED_ERROR", 0) > 0, counts::toString);
    }

    @Tag("slow")
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void shouldAgreeWithTheModelWithFeaturesByManySeeds() {
        walkAll(200, MANY, FabricWalkTest::walkWithFeatures, " --features");
    }
}
