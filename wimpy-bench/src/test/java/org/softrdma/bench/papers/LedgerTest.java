package org.softrdma.bench.papers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.bench.compare.CompareJson;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.CompareRow;
import org.softrdma.bench.compare.SystemKind;
import org.softrdma.bench.measurement.MeasurementException;

/** Verdicts on results whose numbers are known. */
class LedgerTest {
    private static final LedgerSources NOTHING =
            sources(Optional.empty(), Optional.empty(), List.of(), List.of(), List.of());

    @TempDir
    private Path directory;

    /** Results of runs that warn of nothing. */
    private static LedgerSources sources(
            Optional<CompareResults> compare,
            Optional<CompareResults> counts,
            List<JsonNode> wimpy,
            List<JsonNode> floor,
            List<JsonNode> verbs) {
        return new LedgerSources(compare, counts, wimpy, List.of(), floor, verbs, List.of());
    }

    private static LedgerRow row(LedgerSources sources, String id) {
        return Ledger.judge(sources).stream()
                .filter(row -> row.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** Results without a warning. */
    private CompareResults fixed() throws IOException {
        CompareResults all = spoilt();
        return with(
                all,
                all.rows().stream()
                        .filter(row ->
                                !row.cpuByThreads().getOrDefault("jit", 0.0).equals(1.0))
                        .toList());
    }

    private static CompareResults with(CompareResults all, List<CompareRow> rows) {
        return new CompareResults(
                all.schema(),
                all.study(),
                all.machine(),
                all.startedAt(),
                all.scenario(),
                all.conditions(),
                rows,
                all.workers(),
                all.nodes(),
                all.hotKeys(),
                all.skipped(),
                all.failed(),
                all.promises());
    }

    /** Results that warn of a server that was not warm. */
    private CompareResults spoilt() throws IOException {
        Path file = Files.createTempDirectory(directory, "fixed").resolve("results.json");
        try (InputStream in = Objects.requireNonNull(CompareResults.class.getResourceAsStream("results.json"))) {
            Files.copy(in, file);
        }
        return CompareJson.read(file);
    }

    @Test
    void shouldNameEveryRowWithoutResults() {
        List<LedgerRow> rows = Ledger.judge(NOTHING);
        Set<String> ids = new HashSet<>();
        for (LedgerRow row : rows) {
            assertTrue(ids.add(row.id()), row::toString);
            assertTrue(row.why().length() > 10, row::toString);
            assertTrue(row.verdict() != LedgerVerdict.HOLDS, row::toString);
            assertTrue(row.verdict() != LedgerVerdict.DOES_NOT_HOLD, row::toString);
        }
        for (String paper : List.of("W-", "P-", "H-", "N-", "F-")) {
            assertTrue(ids.stream().anyMatch(id -> id.startsWith(paper)), ids::toString);
        }
        assertEquals(
                "there is no results.json of compare: run ./softrdma compare",
                row(NOTHING, "P-Fig7, P-Fig8").why());
    }

    @Test
    void shouldJudgeComparisons() throws IOException {
        LedgerSources sources = sources(Optional.of(fixed()), Optional.empty(), List.of(), List.of(), List.of());
        LedgerRow sizes = row(sources, "P-Fig7, P-Fig8");
        assertEquals(LedgerVerdict.NOT_JUDGED, sizes.verdict(), sizes::toString);
        LedgerRow mixes = row(sources, "P-Fig10a, P-Fig10b");
        assertEquals(LedgerVerdict.NOT_RUN, mixes.verdict(), mixes::toString);
    }

    @Test
    void shouldJudgeWhatIsBesideCpuWorkers() throws IOException {
        LedgerSources sources = sources(Optional.of(fixed()), Optional.empty(), List.of(), List.of(), List.of());
        LedgerRow unnoticed = row(sources, "N-Fig2");
        assertEquals(LedgerVerdict.DOES_NOT_HOLD, unnoticed.verdict());
        assertEquals(
                "50 % of its rate beside 1, 20 % of its rate beside 4: the RNIC works on the server's core, and shares"
                        + " it with the workers; where it comes first: 95 % of its rate beside 1, 90 % of its rate"
                        + " beside 4",
                unnoticed.why());
        LedgerRow faster = row(sources, "N-Fig7, N-Fig8");
        assertEquals(LedgerVerdict.NOT_JUDGED, faster.verdict());
        assertTrue(
                faster.why().contains("0.63 times as fast beside 0, 1.25 times as fast beside 1, 2.00"),
                "also where Nessie loses: " + faster);
    }

    /** Verdicts of a run whose own warnings say that its figures mean little. */
    @Test
    void shouldJudgeNothingByARunThatWasNotWarm() throws IOException {
        LedgerRow row =
                row(sources(Optional.of(spoilt()), Optional.empty(), List.of(), List.of(), List.of()), "N-Fig2");
        assertEquals(LedgerVerdict.NOT_JUDGED, row.verdict());
        assertTrue(row.why().startsWith("Servers were not warm yet in 1 of 10 rows: of pilaf"), row::toString);
        assertTrue(row.why().contains("Found: 50 % of its rate beside 1"), "the numbers stay: " + row);
        Path file = directory.resolve("wimpy.json");
        Path none = directory.resolve("none");
        JsonNode read = wimpy("softrdma", "READ arena", 1024, 100, 1200, 1, 0.5);
        JsonNode stock = wimpy("memcached 1.6", "get", 1024, 100, 1000, 2, 1);
        ObjectNode results = new ObjectMapper().createObjectNode();
        results.putArray("results").add(stock).add(read);
        new ObjectMapper().writeValue(file.toFile(), results);
        LedgerRow old = row(LedgerSources.read(none, none, file, none, none, none), "W-Fig8a");
        assertEquals(LedgerVerdict.NOT_JUDGED, old.verdict());
        assertTrue(old.why().contains("of an older program"), old::toString);
        results.putArray("warnings").addObject().put("kind", "FEW_ROUNDS").put("spoilsVerdicts", false);
        new ObjectMapper().writeValue(file.toFile(), results);
        assertEquals(
                LedgerVerdict.HOLDS,
                row(LedgerSources.read(none, none, file, none, none, none), "W-Fig8a")
                        .verdict());
        results.withArray("warnings")
                .addObject()
                .put("kind", "NOT_QUIET")
                .put("spoilsVerdicts", true)
                .put("text", "The machine was not quiet.");
        new ObjectMapper().writeValue(file.toFile(), results);
        LedgerRow loud = row(LedgerSources.read(none, none, file, none, none, none), "W-Fig8a");
        assertEquals(LedgerVerdict.NOT_JUDGED, loud.verdict());
        assertTrue(loud.why().startsWith("The machine was not quiet. Found: READ beside"), loud::toString);
    }

    @Test
    void shouldJudgeNothingByRowsThatAreTooNoisy() throws IOException {
        ObjectNode noisy = (ObjectNode) wimpy("softrdma", "READ arena", 1024, 100, 1200, 1, 0.5);
        noisy.putArray("tooNoisy").add("serverCpuMicrosPerGet");
        JsonNode stock = wimpy("memcached 1.6", "get", 1024, 100, 1000, 2, 1);
        LedgerRow row = row(
                sources(Optional.empty(), Optional.empty(), List.of(stock, noisy), List.of(), List.of()), "W-Fig8a");
        assertEquals(LedgerVerdict.NOT_JUDGED, row.verdict());
        assertTrue(row.why().startsWith("Rounds lie too far apart: READ arena, 1024 bytes"), row::toString);
    }

    /** Whatever is measured: a constant beside a constant, or a part of what the paper shows. */
    @Test
    void shouldJudgeNothingThatCannotFail() throws IOException {
        LedgerSources all = sources(Optional.of(fixed()), Optional.of(fixed()), List.of(), List.of(), List.of());
        for (String id : List.of("P-CRC", "P-Fig9", "N-Fig9", "N-Fig10", "N-Fig11", "N-Fig7, N-Fig8")) {
            assertEquals(LedgerVerdict.NOT_JUDGED, row(all, id).verdict(), id);
        }
        LedgerRow memory = row(counts(3.10, 1.06, 24_576, 0), "F-Fig11");
        assertEquals(LedgerVerdict.NOT_JUDGED, memory.verdict());
        assertTrue(memory.why().contains("checksum"), memory::toString);
    }

    private LedgerSources rates(double small, double large) throws IOException {
        CompareResults fixed = fixed();
        List<CompareRow> rows = List.of(
                loaded("pilaf", 32, small),
                loaded("pilaf-vo", 32, 1),
                loaded("pilaf", 1024, large),
                loaded("pilaf-vo", 1024, 1));
        return sources(
                Optional.of(new CompareResults(
                        fixed.schema(),
                        fixed.study(),
                        fixed.machine(),
                        fixed.startedAt(),
                        fixed.scenario(),
                        fixed.conditions(),
                        rows,
                        List.of(),
                        List.of(),
                        List.of(),
                        Map.of(),
                        Map.of(),
                        List.of())),
                Optional.empty(),
                List.of(),
                List.of(),
                List.of());
    }

    private static CompareRow loaded(String system, int size, double perSecond) {
        CompareRow row = counted(system, size, 0, Map.of());
        return new CompareRow(
                row.system(),
                row.kind(),
                CompareRow.Server.SLEEPING,
                row.valueBytes(),
                row.window(),
                row.mix(),
                row.operations(),
                Map.of(CompareRow.PER_SECOND, perSecond),
                row.rounds(),
                row.cpu(),
                row.cpuByThreads(),
                row.counts(),
                row.answers(),
                row.responder(),
                row.retries(),
                row.errors(),
                row.memory());
    }

    @Test
    void shouldShowRatesWithoutAVerdict() throws IOException {
        LedgerRow row = row(rates(0.5, 0.9), "P-Fig7, P-Fig8");
        assertEquals(LedgerVerdict.NOT_JUDGED, row.verdict());
        assertTrue(
                row.why().endsWith("GETs per second, pilaf beside pilaf-vo: 0.50 at 32 bytes, 0.90 at 1024 bytes"),
                row::toString);
    }

    private static CompareRow counted(String system, int size, double reads, Map<String, Double> memory) {
        return new CompareRow(
                system,
                SystemKind.DESIGN,
                CompareRow.Server.OWN,
                size,
                16,
                "C",
                1000,
                Map.of(),
                List.of(),
                Map.of(),
                Map.of(),
                Map.of("READS", reads),
                Map.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                memory);
    }

    private static LedgerSources counts(double pilaf, double farm, int pairs, double skew) {
        return sources(
                Optional.empty(),
                Optional.of(new CompareResults(
                        CompareResults.SCHEMA,
                        CompareResults.STUDY,
                        null,
                        "simulated",
                        "softrdma compare --fabric",
                        new CompareResults.Conditions(
                                "of the fabric", "fabric", "safe", 2, pairs, 16, skew, 1, 0, 1000, 1, false),
                        List.of(
                                counted("pilaf", 32, pilaf, Map.of()),
                                counted(
                                        "farm",
                                        32,
                                        farm,
                                        Map.of(CompareRow.DATA_PER_PAIR, 48.0, CompareRow.USED_PER_PAIR, 78.0))),
                        List.of(),
                        List.of(),
                        List.of(),
                        Map.of(),
                        Map.of(),
                        List.of())),
                List.of(),
                List.of(),
                List.of());
    }

    @Test
    void shouldJudgeCounts() {
        LedgerSources right = counts(3.10, 1.06, 24_576, 0);
        assertEquals(LedgerVerdict.HOLDS, row(right, "P-Fig6, P-Reads").verdict());
        assertEquals(
                "3.100 READs per GET at 75 %", row(right, "P-Fig6, P-Reads").why());
        assertEquals(LedgerVerdict.HOLDS, row(right, "F-Fig10").verdict());
        LedgerSources wrong = counts(2.5, 1.3, 24_576, 0);
        assertEquals(LedgerVerdict.DOES_NOT_HOLD, row(wrong, "P-Fig6, P-Reads").verdict());
        assertEquals(LedgerVerdict.DOES_NOT_HOLD, row(wrong, "F-Fig10").verdict());
        assertEquals(
                LedgerVerdict.NOT_RUN,
                row(counts(3.1, 1.06, 24_576, 0.9), "P-Fig6, P-Reads").verdict());
        assertEquals(
                LedgerVerdict.NOT_RUN,
                row(counts(3.1, 1.06, 20_000, 0), "P-Fig6, P-Reads").verdict());
    }

    @Test
    void shouldShowWhatComparisonsOnTheFabricCount() throws IOException {
        LedgerSources sources = sources(Optional.empty(), Optional.of(fixed()), List.of(), List.of(), List.of());
        assertTrue(
                row(sources, "N-Fig9").why().contains("Found: 3 nodes: with 80 % nearby 0.13 entries per GET"),
                row(sources, "N-Fig9")::toString);
        assertTrue(
                row(sources, "P-Fig9").why().endsWith("20.00 % of 4 keys, 2.20 % of 40 keys, 0.10 % of 400 keys"),
                row(sources, "P-Fig9")::toString);
        for (String id : List.of("N-Fig9", "P-Fig9")) {
            LedgerRow notRun = row(counts(3.1, 1.06, 24_576, 0), id);
            assertEquals(LedgerVerdict.NOT_RUN, notRun.verdict());
            assertTrue(notRun.why().contains("--fabric"), notRun::toString);
        }
    }

    private static JsonNode wimpy(
            String system, String protocol, int size, int percent, double gets, double cpu, double kernel)
            throws IOException {
        return new ObjectMapper()
                .readTree(String.format(
                        Locale.ROOT,
                        "{\"system\": \"%s\", \"protocol\": \"%s\", \"valueBytes\": %d, \"window\": 16,"
                                + " \"throttlePercent\": %d, \"serverCores\": 1, \"loop\": \"closed\","
                                + " \"getsPerSecond\": %f,"
                                + " \"serverCpuMicrosPerGet\": %f, \"serverSystemMicrosPerGet\": %f}",
                        system,
                        protocol,
                        size,
                        percent,
                        gets,
                        cpu,
                        kernel));
    }

    private static LedgerSources wimpy(double slowGets, double largeCpu) throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        rows.add(wimpy("memcached 1.6", "get", 1024, 100, 1000, 2, 1));
        rows.add(wimpy("memcached 1.6", "get", 10240, 100, 500, 4, 3));
        rows.add(wimpy("softrdma", "READ arena", 1024, 100, 1200, 1, 0.5));
        rows.add(wimpy("softrdma", "READ arena", 10240, 100, 600, largeCpu, 2));
        rows.add(wimpy("memcached 1.6", "get", 1024, 50, 500, 2, 1));
        rows.add(wimpy("memcached 1.6", "get", 10240, 50, 250, 4, 3));
        rows.add(wimpy("softrdma", "READ arena", 1024, 50, slowGets, 1, 0.5));
        rows.add(wimpy("softrdma", "READ arena", 10240, 50, 350, 3, 2));
        return sources(Optional.empty(), Optional.empty(), rows, List.of(), List.of());
    }

    @Test
    void shouldJudgeTheWimpyStudy() throws IOException {
        LedgerSources right = wimpy(700, 3);
        for (String id : List.of("W-Fig2", "W-Fig7", "W-Fig8a")) {
            assertEquals(
                    LedgerVerdict.HOLDS,
                    row(right, id).verdict(),
                    () -> row(right, id).toString());
        }
        assertEquals(
                "READ beside classic get: 0.50 at 1024 bytes, 0.75 at 10240 bytes",
                row(right, "W-Fig8a").why());
        assertEquals(LedgerVerdict.NOT_RUN, row(right, "W-Fig8b").verdict());
        LedgerSources wrong = wimpy(400, 5);
        assertEquals(LedgerVerdict.DOES_NOT_HOLD, row(wrong, "W-Fig7").verdict());
        assertEquals(LedgerVerdict.DOES_NOT_HOLD, row(wrong, "W-Fig8a").verdict());
    }

    /** Results whose rows of classic gets have these functions, in the order of their sizes. */
    private static LedgerSources profiled(List<Map<String, Double>> functions) throws IOException {
        List<JsonNode> rows = new ArrayList<>();
        for (JsonNode row : wimpy(700, 3).wimpy()) {
            ObjectNode changed = row.deepCopy();
            if (row.path("protocol").asText().equals("get")) {
                int index = row.path("valueBytes").asInt() == 1024 ? 0 : 1;
                functions.get(index).forEach(changed.putObject("serverCpuPercentByFunction")::put);
            }
            rows.add(changed);
        }
        return sources(Optional.empty(), Optional.empty(), rows, List.of(), List.of());
    }

    @Test
    void shouldJudgeWhatFunctionsCopy() throws IOException {
        Map<String, Double> small =
                Map.of("_copy_from_iter", 4.0, "__memmove_avx_unaligned_erms", 6.0, "tcp_ack", 90.0);
        Map<String, Double> large =
                Map.of("rep_movs_alternative", 20.0, "__memcpy_avx_unaligned_erms", 30.0, "tcp_ack", 50.0);
        Map<String, Double> other = Map.of("copy_process", 30.0, "skb_zerocopy", 40.0, "copyin", 11.0, "tcp_ack", 19.0);
        LedgerRow right = row(profiled(List.of(small, large)), "W-Fig3");
        assertEquals(LedgerVerdict.HOLDS, right.verdict(), right::toString);
        assertEquals("copying takes 10 % at 1024 bytes, 50 % at 10240 bytes", right.why());
        assertEquals(
                LedgerVerdict.DOES_NOT_HOLD,
                row(profiled(List.of(large, small)), "W-Fig3").verdict());
        LedgerRow little = row(profiled(List.of(small, other)), "W-Fig3");
        assertEquals(LedgerVerdict.DOES_NOT_HOLD, little.verdict(), "it grows, but is no large part");
        assertEquals("copying takes 10 % at 1024 bytes, 11 % at 10240 bytes", little.why());
        assertEquals(
                LedgerVerdict.NOT_RUN,
                row(profiled(List.of(small, Map.of())), "W-Fig3").verdict());
        assertEquals(LedgerVerdict.NOT_RUN, row(wimpy(700, 3), "W-Fig3").verdict());
    }

    private static JsonNode overLink(int megabits, int percent, double gets) throws IOException {
        ObjectNode row = (ObjectNode) wimpy("memcached 1.6", "get", 10240, percent, gets, 4, 3);
        return row.put("linkMegabits", megabits);
    }

    private static LedgerSources overLinks(double slowGetsAt1, double slowGetsAt10) throws IOException {
        return sources(
                Optional.empty(),
                Optional.empty(),
                List.of(
                        overLink(1000, 100, 11_000),
                        overLink(1000, 25, slowGetsAt1),
                        overLink(10_000, 100, 100_000),
                        overLink(10_000, 50, 90_000),
                        overLink(10_000, 25, slowGetsAt10)),
                List.of(),
                List.of());
    }

    @Test
    void shouldJudgeWhetherALinkHidesTheClock() throws IOException {
        LedgerRow right = row(overLinks(10_900, 40_000), "W-Fig1");
        assertEquals(LedgerVerdict.HOLDS, right.verdict(), right::toString);
        assertEquals(
                "GETs per second of the slowest server beside the fastest, 10240 bytes: 0.99 at 1 Gbit/s, 0.40 at 10"
                        + " Gbit/s",
                right.why());
        for (LedgerSources wrong : List.of(overLinks(9_000, 40_000), overLinks(10_900, 99_000))) {
            assertEquals(LedgerVerdict.DOES_NOT_HOLD, row(wrong, "W-Fig1").verdict());
        }
        LedgerRow notRun = row(wimpy(700, 3), "W-Fig1");
        assertEquals(LedgerVerdict.NOT_RUN, notRun.verdict());
        assertTrue(notRun.why().contains("as root"), notRun::toString);
        // Rows over a link are not rows of the other figures.
        assertEquals(
                LedgerVerdict.NOT_RUN, row(overLinks(10_900, 40_000), "W-Fig2").verdict());
    }

    private static LedgerSources floor(double writes) throws IOException {
        List<JsonNode> cells = new ArrayList<>();
        for (String cell : List.of(
                "read, 1024, 16, 9, 9",
                "read, 32, 1, 10, 4",
                "read, 32, 16, 100, 0.5",
                "write, 32, 1, 20, 2",
                "write, 32, 16, " + writes + ", " + 50 / writes)) {
            String[] words = cell.split(", ", -1);
            cells.add(new ObjectMapper()
                    .readTree(String.format(
                            Locale.ROOT,
                            "{\"operation\": \"%s\", \"sizeBytes\": %s, \"window\": %s, \"soft\":"
                                    + " {\"readsPerSecond\": %s, \"clientCpuMicrosPerRead\": %s}}",
                            (Object[]) words)));
        }
        return sources(Optional.empty(), Optional.empty(), List.of(), cells, List.of());
    }

    @Test
    void shouldJudgeWritesBesideReads() throws IOException {
        LedgerRow right = row(floor(170), "H-Fig3b");
        assertEquals(LedgerVerdict.HOLDS, right.verdict(), right::toString);
        assertEquals("WRITEs beside READs per second, 32 bytes: 1.70 with 16 outstanding", right.why());
        LedgerRow sent = row(floor(200), "H-Fig4b");
        assertEquals(LedgerVerdict.HOLDS, sent.verdict(), sent::toString);
        assertEquals("CPU of the side that sends, WRITEs beside READs, 32 bytes: 0.50 with 16 outstanding", sent.why());
        for (String id : List.of("H-Fig3b", "H-Fig4b")) {
            assertEquals(LedgerVerdict.DOES_NOT_HOLD, row(floor(90), id).verdict(), id);
        }
        assertEquals(LedgerVerdict.NOT_RUN, row(NOTHING, "H-Fig3b").verdict());
    }

    /** READs per second beside requests of a way, by its label, size and number at a time. */
    private static LedgerSources verbs(Map<String, Double> reads) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        List<JsonNode> cells = new ArrayList<>();
        for (String way : List.of("READ", "SEND", "WRITE", "TCP")) {
            for (int size : new int[] {16, 4096}) {
                for (int window : new int[] {1, 16}) {
                    double beside = reads.getOrDefault(way + " " + size + " " + window, 1.0);
                    cells.add(mapper.readTree(String.format(
                            Locale.ROOT,
                            "{\"way\": \"%s\", \"sizeBytes\": %d, \"connections\": %d, \"window\": %d,"
                                    + " \"readsBesideThese\": %f, \"meanMicros\": %f}",
                            way,
                            size,
                            window == 1 ? 1 : 8,
                            window,
                            beside,
                            10 * beside)));
                }
            }
        }
        return sources(Optional.empty(), Optional.empty(), List.of(), List.of(), cells);
    }

    private static void assertVerdict(LedgerVerdict verdict, String id, Map<String, Double> reads) throws IOException {
        LedgerRow row = row(verbs(reads), id);
        assertEquals(verdict, row.verdict(), row::toString);
    }

    @Test
    void shouldJudgeReadsBesideRequestsThatAreAnswered() throws IOException {
        LedgerVerdict holds = LedgerVerdict.HOLDS;
        LedgerVerdict not = LedgerVerdict.DOES_NOT_HOLD;
        assertVerdict(holds, "P-Fig1", Map.of("SEND 16 1", 2.0, "TCP 16 1", 20.0));
        assertVerdict(not, "P-Fig1", Map.of("SEND 16 1", 1.5, "TCP 16 1", 1.2));
        assertVerdict(not, "P-Fig1", Map.of("SEND 16 16", 2.0, "TCP 16 1", 1.2));
        assertVerdict(holds, "P-Fig2, P-Tab1", Map.of("SEND 16 16", 3.7, "SEND 4096 16", 1.02));
        assertVerdict(not, "P-Fig2, P-Tab1", Map.of("SEND 16 16", 1.5, "SEND 4096 16", 1.6));
        assertVerdict(not, "P-Fig2, P-Tab1", Map.of("SEND 16 16", 0.8, "SEND 4096 16", 1.0));
        assertVerdict(not, "P-Fig2, P-Tab1", Map.of("SEND 16 16", 3.7, "SEND 4096 16", 3.0));
        assertVerdict(not, "P-Fig2, P-Tab1", Map.of("SEND 16 16", 3.7, "SEND 4096 16", 0.3));
        assertVerdict(holds, "N-Fig1", Map.of("WRITE 16 16", 1.3, "WRITE 4096 16", 0.9));
        assertVerdict(not, "N-Fig1", Map.of("WRITE 16 16", 1.0, "WRITE 4096 16", 1.0));
        assertVerdict(holds, "H-Fig2", Map.of("WRITE 16 1", 1.1));
        assertVerdict(not, "H-Fig2", Map.of("WRITE 16 1", 1.5));
        assertVerdict(not, "H-Fig2", Map.of("WRITE 16 1", 0.5));
        assertVerdict(holds, "F-Fig2", Map.of("WRITE 16 16", 2.0, "TCP 16 16", 20.0));
        assertVerdict(not, "F-Fig2", Map.of("WRITE 16 16", 1.2, "TCP 16 16", 20.0));
        assertVerdict(not, "F-Fig2", Map.of("WRITE 16 16", 2.0, "TCP 16 16", 10.0));
        assertVerdict(holds, "F-Fig3", Map.of("WRITE 16 16", 2.0, "TCP 16 1", 12.5));
        assertVerdict(not, "F-Fig3", Map.of("WRITE 16 16", 2.0, "TCP 16 1", 9.5));
        assertVerdict(not, "F-Fig3", Map.of("WRITE 16 1", 2.0, "TCP 16 1", 12.5));
        assertEquals(
                "READs per second beside WRITE/WRITE: 1.30 at 16 bytes, 0.90 at 4096 bytes; memory that is polled is"
                        + " copied word by word",
                row(verbs(Map.of("WRITE 16 16", 1.3, "WRITE 4096 16", 0.9)), "N-Fig1")
                        .why());
        assertTrue(
                row(verbs(Map.of("SEND 16 1", 2.0, "WRITE 16 1", 1.5, "TCP 16 1", 0.9)), "P-Fig1")
                        .why()
                        .startsWith(
                                "16 bytes, one at a time: 10.0 \u00b5s by READ, 20.0 by SENDs, 15.0 by WRITEs, 9.0"),
                "figures of each way");
    }

    @Test
    void shouldAskForSmallAndLargeAnswersOfAllWays() throws IOException {
        LedgerSources whole = verbs(Map.of());
        for (String missing : List.of("READ", "SEND", "WRITE", "TCP")) {
            List<JsonNode> cells = whole.verbs().stream()
                    .filter(cell -> !cell.path("way").asText().equals(missing)
                            || cell.path("window").asInt() == 1)
                    .toList();
            LedgerRow row = row(sources(Optional.empty(), Optional.empty(), List.of(), List.of(), cells), "F-Fig3");
            assertEquals(LedgerVerdict.NOT_RUN, row.verdict(), missing);
        }
        List<JsonNode> small = whole.verbs().stream()
                .filter(cell -> cell.path("sizeBytes").asInt() < 4096)
                .toList();
        assertEquals(
                LedgerVerdict.NOT_RUN,
                row(sources(Optional.empty(), Optional.empty(), List.of(), List.of(), small), "N-Fig1")
                        .verdict());
        assertTrue(row(NOTHING, "P-Fig1").why().contains("./softrdma perf verbs"));
    }

    /** What {@code farm tao} writes, of which the verdicts need this. */
    private LedgerSources farm(double reads, double ratio, double latency) throws IOException {
        Path none = directory.resolve("none");
        String json = """
            {"rows": [
              {"replicas": 1, "updatePercent": 0, "readsPerRead": 7, "deviceReadsPerRead": %s, "operationsPerSecond": 9},
              {"replicas": 1, "updatePercent": 5, "readsPerRead": 7, "operationsPerSecond": 1000},
              {"replicas": 3, "updatePercent": 0, "readsPerRead": 7, "operationsPerSecond": 9,
               "byOperation": {"obj_get": {"p50Micros": 20}}},
              {"replicas": 3, "updatePercent": 5, "readsPerRead": 7, "operationsPerSecond": %s},
              {"replicas": 3, "updatePercent": 20, "readsPerRead": 7, "operationsPerSecond": 8,
               "byOperation": {"obj_get": {"p50Micros": %s}}}]}
            """.formatted(reads, 1000 * ratio, 20 * latency);
        Path file = Files.writeString(directory.resolve("farm-tao.json"), json);
        return LedgerSources.read(none, none, none, none, none, file);
    }

    @Test
    void shouldJudgeTaosReads() throws IOException {
        assertEquals(LedgerVerdict.HOLDS, row(farm(1.004, 0.7, 1.1), "F-Tao").verdict());
        assertEquals(
                LedgerVerdict.DOES_NOT_HOLD, row(farm(1.07, 0.7, 1.1), "F-Tao").verdict());
        LedgerRow updates = row(farm(1.02, 0.7, 1.1), "F-Fig14");
        assertEquals(LedgerVerdict.NOT_JUDGED, updates.verdict());
        assertTrue(updates.why().contains("with 3 replicas 0.70 times"), updates::why);
        assertTrue(row(farm(1.02, 0.7, 1.1), "F-Fig15").why().contains("takes 1.10 times"));
        for (String id : List.of("F-Tao", "F-Fig14", "F-Fig15")) {
            assertEquals(LedgerVerdict.NOT_RUN, row(NOTHING, id).verdict());
            assertTrue(row(NOTHING, id).why().contains("./softrdma farm tao --local --json farm-tao.json"), id);
        }
    }

    @Test
    void shouldRefuseFilesThatAreSomethingElse() throws IOException {
        Path compare = CompareJson.write(fixed(), directory.resolve("compare"));
        Path none = directory.resolve("none");
        assertTrue(LedgerSources.read(compare, none, none, none, none, none)
                .compare()
                .isPresent());
        for (int wrong = 1; wrong < 6; wrong++) {
            Path[] files = {none, none, none, none, none, none};
            files[wrong] = compare;
            MeasurementException refused = assertThrows(
                    MeasurementException.class,
                    () -> LedgerSources.read(files[0], files[1], files[2], files[3], files[4], files[5]));
            assertTrue(String.valueOf(refused.getMessage()).startsWith(compare.toString()), refused::toString);
        }
    }
}
