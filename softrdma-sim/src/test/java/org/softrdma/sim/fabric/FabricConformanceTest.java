package org.softrdma.sim.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;
import org.softrdma.sim.fabric.baton.SimulationException;
import org.softrdma.sim.fabric.memory.Grains;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseMethod;

/** The software RNIC keeps every rule of the verbs API on a fabric, whatever the seed. */
class FabricConformanceTest {
    private static final double BRIEF = 0.1;

    private enum Verdict {
        PASSED,
        SKIPPED
    }

    private static Verdict run(CaseMethod method, long seed, FabricSettings settings) {
        Fabric fabric = new Fabric(seed, settings);
        FabricNode responder = fabric.node("responder");
        FabricNode requester = fabric.node("requester");
        ConformanceSettings conformance = ConformanceSettings.of("sim", Map.of())
                .withAddress(responder.address().getHostAddress())
                .withScale(BRIEF)
                .withSeed(seed);
        Verdict[] verdict = {Verdict.PASSED};
        fabric.run(requester, () -> {
            try {
                method.run(conformance, new FabricEnvironment(fabric, requester, responder));
            } catch (TestAbortedException e) {
                verdict[0] = Verdict.SKIPPED;
            }
        });
        return verdict[0];
    }

    private static void runAll(long seed, FabricSettings settings) {
        List<CaseMethod> cases = new ArrayList<>(CaseMethod.all());
        cases.sort(Comparator.comparingInt(found -> found.description().number()));
        List<String> failures = new ArrayList<>();
        int passed = 0;
        for (CaseMethod method : cases) {
            try {
                passed += run(method, seed, settings) == Verdict.PASSED ? 1 : 0;
            } catch (SimulationException e) {
                failures.add(method + ": " + e.getMessage());
            }
        }
        assertEquals("", String.join("\n\n", failures), "of seed " + seed);
        assertTrue(passed > 150, "only " + passed + " cases passed");
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 4, 5, 6, 7})
    void shouldKeepTheRulesWhateverVerbsAllow(long seed) {
        runAll(seed, FabricSettings.adversary());
    }

    @Test
    void shouldKeepTheRulesOnTheFabric() {
        runAll(1, FabricSettings.DEFAULT);
    }

    @Test
    void shouldKeepTheRulesWhenCopiesAreSeenInWords() {
        runAll(2, FabricSettings.DEFAULT.with(Grains.WORDS));
    }
}
