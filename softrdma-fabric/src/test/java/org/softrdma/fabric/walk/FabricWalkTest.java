package org.softrdma.fabric.walk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.Seeds;
import org.softrdma.sim.fabric.baton.SimulationException;
import org.softrdma.testkit.walk.WalkReport;
import org.softrdma.testkit.walk.WalkSettings;

/** The software RNIC agrees with the model of verbs on random walks, whatever the seed does and breaks. */
class FabricWalkTest {
    private static final int OPERATIONS = 200;
    private static final int NODES = 3;
    private static final int MANY = Boolean.getBoolean("softrdma.slow.short") ? 2_000 : 20_000;

    private static FabricWalk walk(long seed, boolean faults) {
        return new FabricWalk(new WalkSettings(seed, OPERATIONS, NODES, false), faults);
    }

    /** Every second one with faults. */
    private static Map<String, Integer> walkAll(long first, int seeds) {
        List<String> failures = new ArrayList<>();
        List<WalkReport> reports = new ArrayList<>();
        Seeds.of(first, seeds).run(FabricWalkTest::outcome, (seed, outcome) -> {
            switch (outcome) {
                case WalkReport report -> reports.add(report);
                default ->
                    failures.add(outcome + "\nagain: softrdma walk --transport fabric --seed " + seed
                            + (hasFaults(seed) ? " --faults" : ""));
            }
            return failures.size() < 3;
        });
        assertEquals("", String.join("\n\n", failures));
        return WalkReport.sum(reports);
    }

    private static boolean hasFaults(long seed) {
        return seed % 2 == 1;
    }

    private static Object outcome(long seed) {
        try {
            return walk(seed, hasFaults(seed)).run().report();
        } catch (SimulationException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void shouldAgreeWithTheModel() {
        Map<String, Integer> counts = walkAll(0, 200);

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

    @Test
    void shouldDoTheSameBySameSeed() {
        for (long seed = 0; seed < 4; seed++) {
            assertEquals(walk(seed, true).run().hash(), walk(seed, true).run().hash(), "seed " + seed);
        }
    }

    @Tag("slow")
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void shouldAgreeWithTheModelByManySeeds() {
        Map<String, Integer> counts = walkAll(200, MANY);

        assertTrue(counts.getOrDefault("completions RETRY_EXCEEDED_ERROR", 0) > 0, counts::toString);
    }
}
