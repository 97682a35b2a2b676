package org.softrdma.bench.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.workload.Mix;
import org.softrdma.stores.Protocol;

class ComparePlanTest {
    private static ComparePlan plan(List<String> systems, int pairs, Map<String, Map<String, String>> options) {
        return new ComparePlan(
                "softrdma compare",
                systems,
                List.of(32, 1024),
                List.of(1, 16),
                List.of(Mix.C, Mix.A),
                8,
                pairs,
                0.99,
                Protocol.SAFE,
                options,
                true,
                List.of(),
                new ComparePlan.Timing(5, 2000, 1500),
                Cores.of(2));
    }

    @Test
    void shouldFindEveryDesignByItself() {
        List<String> names = ComparePlan.systemNames();
        assertTrue(names.containsAll(List.of("pilaf", "pilaf-vo", "kv", "memcached", "redis")), names::toString);
        ComparePlan plan = plan(names, 1000, Map.of());
        assertEquals(names.size() - ComparePlan.OTHERS.size(), plan.designs().size());
        assertEquals(plan.designs().size(), plan.promises().size());
        assertEquals(16, plan.maxWindow());
    }

    @Test
    void shouldFillTablesAsPapersDo() {
        ComparePlan plan =
                plan(List.of("pilaf"), 24_576, Map.of("pilaf", Map.of("fingerprints", "on", "extents", "9")));
        assertEquals(Map.of("entries", "15", "extents", "9", "fingerprints", "on"), plan.serverOptions("pilaf", 1024));
        assertEquals(Map.of("entries", "15", "extents", "21"), plan.serverOptions("pilaf-vo", 32));
        // 9103 buckets of 3 slots are 90 % full.
        assertEquals(
                Map.of("values", "inline", "buckets", "9103", "region", "67108864"), plan.serverOptions("farm", 32));
        assertEquals("outline", plan.serverOptions("farm", 129).get("values"));
        assertEquals(Map.of("index", "17", "entries", "16", "reuse-ms", "10"), plan.serverOptions("nessie", 32));
        assertEquals(Map.of("index", "17", "entries", "18"), TableSizes.of("nessie", Protocol.PAPER, 24_576, 32));
        assertEquals(Map.of("workers", "2", "index", "16", "entries", "14"), plan.serverOptions("nessie-sd", 32));
        assertEquals(Map.of(), plan.serverOptions("anything else", 32));
    }

    /** Two threads that hand over to each other cost a design that its server drives twice as much. */
    @Test
    void shouldServeDesignsByOneThreadThatSleepsInItsDevice() {
        assertEquals(
                List.of("--progress", "manual", "--idle", "sleep"),
                CompareSystems.threadOptions(CompareRow.Server.SLEEPING));
        assertEquals(
                List.of("--progress", "manual", "--idle", "spin"),
                CompareSystems.threadOptions(CompareRow.Server.SPINNING));
        assertEquals(
                List.of("--progress", "engine", "--idle", "sleep"),
                CompareSystems.threadOptions(CompareRow.Server.TWO_THREADS));
        assertEquals(
                List.of("--progress", "engine", "--idle", "sleep"),
                CompareSystems.threadOptions(CompareRow.Server.WORKER_THREADS));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 100, 24_576, 24_577, 1_000_000})
    void shouldKeepPilafsTableAtThreeQuartersAtMost(int pairs) {
        int entries = 1
                << Integer.parseInt(
                        TableSizes.of("pilaf", Protocol.SAFE, pairs, 32).get("entries"));
        assertTrue(pairs <= 0.75 * entries, pairs + " of " + entries);
        assertTrue(pairs > 0.75 * entries / 2 || entries <= 2, pairs + " of " + entries);
    }

    @Test
    void shouldRefuseWhatItCannotDo() {
        assertRefused("--designs nobody: unknown, expected some of ", () -> plan(List.of("nobody"), 10, Map.of()));
        assertRefused("--designs [kv, kv]: duplicate value", () -> plan(List.of("kv", "kv"), 10, Map.of()));
        assertRefused("--pairs 1: expected 2 to 1000000", () -> plan(List.of("kv"), 1, Map.of()));
        assertRefused("design nobody: expected", () -> plan(List.of("kv"), 10, Map.of("nobody", Map.of())));
        assertThrows(IllegalArgumentException.class, () -> new ComparePlan.Timing(0, 1, 0));
    }

    private static void assertRefused(String message, Runnable made) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, made::run);
        assertTrue(String.valueOf(refused.getMessage()).startsWith(message), refused::toString);
    }
}
