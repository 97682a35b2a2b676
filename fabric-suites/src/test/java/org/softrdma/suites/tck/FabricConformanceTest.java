package org.softrdma.suites.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.AdversaryBySeed;
import org.softrdma.fabric.Seeds;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseResult;

/** The software RNIC keeps every rule of the verbs API on a fabric, whatever the seed and its adversary do. */
class FabricConformanceTest {
    private static final double BRIEF = 0.1;
    private static final int SEEDS = 3;
    private static final int SAMPLED_SEEDS = Integer.getInteger("softrdma.sample", 1) == 1 ? SEEDS : 1;

    /** For mutants, which name the cases that find them: all by default. */
    private static final Set<Integer> CASES = Stream.of(
                    System.getProperty("softrdma.tck.cases", "").split(","))
            .filter(number -> !number.isEmpty())
            .map(Integer::valueOf)
            .collect(Collectors.toSet());

    private static final int MANY = Boolean.getBoolean("softrdma.slow.short") ? 3 : 200;

    private static void runAll(long first, int seeds) {
        FabricSuite suite =
                new FabricSuite(ConformanceSettings.of("sim", Map.of()).withScale(BRIEF), CASES);
        List<String> failures = new ArrayList<>();
        Seeds.of(first, seeds).run(seed -> suite.run(seed, _ -> {}), (seed, results) -> {
            long passed = 0;
            for (CaseResult result : results) {
                passed += result.status() == CaseResult.Status.PASSED ? 1 : 0;
                if (result.status() == CaseResult.Status.FAILED) {
                    failures.add("seed " + seed + " (" + new AdversaryBySeed(seed) + "): " + result.line());
                }
            }
            assertTrue(
                    passed + failures.size() > (CASES.isEmpty() ? 150 : 0),
                    "only " + passed + " cases passed by seed " + seed);
            return true;
        });
        assertEquals("", String.join("\n", failures));
    }

    @Tag("sampled")
    @Test
    void shouldKeepTheRulesOnTheFabric() {
        runAll(0, SAMPLED_SEEDS);
    }

    @Tag("slow")
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void shouldKeepTheRulesByManySeeds() {
        runAll(SEEDS, MANY);
    }
}
