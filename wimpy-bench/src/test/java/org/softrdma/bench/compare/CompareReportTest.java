package org.softrdma.bench.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.bench.measurement.MeasurementException;

/** The table, the page and the verdicts, made of a results.json that does not change. */
class CompareReportTest {
    @TempDir
    private Path directory;

    private CompareResults results;

    @BeforeEach
    void read() throws IOException {
        Path file = directory.resolve("results.json");
        try (InputStream in = Objects.requireNonNull(CompareReportTest.class.getResourceAsStream("results.json"))) {
            Files.copy(in, file);
        }
        results = CompareJson.read(file);
    }

    private String page(CompareResults of) throws IOException {
        return Files.readString(new ComparePage(of).write(directory));
    }

    /** Without the library that draws. */
    private static String text(String page) {
        return page.substring(0, page.indexOf("<script"));
    }

    private static JsonNode figures(String page) throws IOException {
        Matcher options = Pattern.compile("<script type=\"application/json\" id=\"options\">(.*?)</script>")
                .matcher(page);
        assertTrue(options.find());
        return new ObjectMapper().readTree(options.group(1).replace("\\u003c", "<"));
    }

    @Test
    void shouldReadWhatItWrites() throws IOException {
        Path again = CompareJson.write(results, directory.resolve("again"));
        assertEquals(results, CompareJson.read(again));
        assertEquals(
                0, new ObjectMapper().readTree(again.toFile()).get("errors").asLong());
    }

    @Test
    void shouldRefuseOtherFiles() throws IOException {
        Path file = directory.resolve("other.json");
        for (String text : List.of(
                "{\"study\": \"wimpy\", \"schema\": 1}",
                "{\"study\": \"compare\", \"schema\": 9}",
                "{\"study\": \"compare\", \"schema\": 1}",
                "{\"study\": \"compare\", \"schema\": 2}",
                "[]",
                "nothing")) {
            Files.writeString(file, text);
            MeasurementException refused = assertThrows(MeasurementException.class, () -> CompareJson.read(file));
            assertTrue(String.valueOf(refused.getMessage()).contains("other.json"), refused::toString);
        }
    }

    @Test
    void shouldCountMessagesInBothDirections() {
        List<CompareRow> cell = results.cell(1024, 16, "C");
        assertEquals(6.18, CompareResults.of(cell, "pilaf").orElseThrow().messages(), 1e-9);
        assertEquals(2, CompareResults.of(cell, "pilaf-vo").orElseThrow().messages(), 1e-9);
        assertEquals(2, CompareResults.of(cell, "herd-rc").orElseThrow().messages(), 1e-9);
        assertEquals(2, CompareResults.of(cell, "kv").orElseThrow().messages(), 1e-9);
        assertEquals(
                0.14,
                CompareResults.of(cell, "memcached 1.6.18, multi-key get/set")
                        .orElseThrow()
                        .messages(),
                1e-9);
        assertEquals(
                "memcached 1.6.18, multi-key get/set",
                CompareResults.cheapest(cell, SystemKind.MEMCACHED)
                        .orElseThrow()
                        .system());
    }

    @Test
    void shouldShowWhatIsLeftBesideCpuWorkers() throws IOException {
        assertEquals(List.of(0, 1, 4), results.workerCounts());
        assertEquals(0.25, results.partBesideWorkers("nessie-sd", false, 1), 1e-9);
        assertTrue(Double.isNaN(results.besideWorkers("nessie", false, 2)));
        String page = page(results);
        assertTrue(text(page).contains("<td>nessie, RNIC first</td><td>110,000 (1.10)</td>")
                || text(page).contains("<td>nessie, RNIC first</td><td>110000 (1.10)</td>"));
        JsonNode lines = figures(page).get("workers").get("series");
        assertEquals(4, lines.size(), "a line for each design and priority");
        assertEquals("line", lines.get(0).get("type").asText());
        assertEquals(0.5, lines.get(0).get("data").get(1).get("value").asDouble(), 1e-9);
        StringWriter table = new StringWriter();
        new CompareTable(results).print(new PrintWriter(table, true));
        assertTrue(table.toString().contains("nessie-sd, RNIC first"), table::toString);
        assertEquals(2, WorkersClaims.judge(results).size());
    }

    private static String text(List<Judgement> list, String subject) {
        Judgement found = list.stream()
                .filter(each -> each.subject().equals(subject))
                .findFirst()
                .orElseThrow();
        return found.verdict() + " " + found.found() + " | " + found.because();
    }

    @Test
    void shouldJudgeThePredictions() {
        List<Judgement> list = Predictions.judge(results);
        assertEquals("HOLDS 6.18 per GET (3.09 READs) | ", text(list, "pilaf, 1 KiB, messages"));
        assertEquals("HOLDS 2.10 \u00b5s per GET, 2.10 times kv's | ", text(list, "pilaf, 1 KiB, server CPU"));
        assertEquals(
                "DOES_NOT_HOLD 3.00 \u00b5s per GET, 3.00 times kv's | it costs more",
                text(list, "herd-rc, 1 KiB, server CPU"));
        assertEquals("HOLDS 1.00 \u00b5s per GET | ", text(list, "kv, 1 KiB, server CPU"));
        assertEquals(
                "NOT_MEASURED  | no row of farm with 32 B, 16 outstanding, mix C", text(list, "farm, 32 B, messages"));
        assertEquals("NOT_MEASURED  | " + results.skipped().get("nessie"), text(list, "nessie, 1 KiB, server CPU"));
        assertEquals(
                "HOLDS GETs go on, PUTs do not; a miss is proven | ",
                text(list, "pilaf, its server's application stopped"));
        assertEquals(
                "HOLDS kv costs least, with 2.00 messages per GET; the fewest are 2.00 | ", text(list, "all, 1 KiB"));
        // Whatever there is no row of has a reason.
        for (Judgement each : list) {
            assertEquals(each.verdict() == Verdict.HOLDS, each.because().isEmpty(), each::toString);
        }
    }

    @Test
    void shouldSayByWhichMechanismAClaimFlips() {
        List<Judgement> list = Claims.judge(results);
        String pilaf = text(list, "Pilaf, 1 KiB, 16 outstanding");
        assertTrue(pilaf.startsWith("DOES_NOT_HOLD 2.10 \u00b5s and 1.20 \u00b5s, 1.75 times as much"), pilaf);
        assertTrue(pilaf.contains("it takes more messages"), pilaf);
        assertTrue(pilaf.contains("pilaf has 6.18 messages per GET (3.09 READs)"), pilaf);
        String herd = text(list, "HERD, 1 KiB, 16 outstanding");
        assertTrue(herd.contains("its server's application does more"), herd);
        assertTrue(text(list, "FaRM, 1 KiB, 16 outstanding").startsWith("HOLDS 1.50"), list::toString);
        assertTrue(text(list, "Nessie, 1 KiB, 16 outstanding").startsWith("NOT_MEASURED"), list::toString);
    }

    @Test
    void shouldPrintATable() {
        StringWriter out = new StringWriter();
        new CompareTable(results).print(new PrintWriter(out, true));
        String table = out.toString();
        assertTrue(table.contains("1 KiB, 16 outstanding, mix C "), table);
        assertTrue(table.contains("1 KiB, 16 outstanding, mix A, servers spinning"), table);
        assertTrue(
                Pattern.compile("pilaf +500000 +2\\.10 +2\\.30 +1\\.90 +6\\.18 +120\\.0 +310\\.0"
                                + "  entry retries 0\\.0001")
                        .matcher(table)
                        .find(),
                table);
        assertTrue(table.contains("skipped: redis: redis-server is not installed"), table);
        assertTrue(table.contains("errors: 0"), table);
        assertTrue(
                table.contains("1 of 10 rows: of pilaf, 1 KiB, 16 outstanding, mix A, 28 % of the server's CPU"),
                table);
    }

    @Test
    void shouldDrawAPage() throws IOException {
        String whole = page(results);
        String page = text(whole);
        assertTrue(page.contains("kv cost its server least, 1.00 \u00b5s of CPU per GET (2.00 messages)"), page);
        assertTrue(page.contains("memcached in its cheapest form took 1.40"), page);
        assertTrue(page.contains("A &lt;CPU&gt; &amp; more"), page);
        assertTrue(
                page.contains("<tr><td>herd-rc</td><td>yes</td><td>no</td><td>no</td><td>no</td><td>yes</td>"
                        + "<td>yes</td></tr>"),
                page);
        assertTrue(page.contains("<dt>pilaf</dt><dd>A client finds a pair by READs"), page);
        assertFalse(page.contains("<dt>nessie</dt>"), "it is not among the results");
        assertTrue(page.contains("entry retries 0.00012"), page);
        assertTrue(page.contains("<td>0.01000</td>"), page);
        assertTrue(page.contains("<strong>redis</strong>: redis-server is not installed"), page);
        assertTrue(page.contains("Mix A: half GETs, half PUTs. "), page);
        assertFalse(page.contains("NaN"), page);
        JsonNode figures = figures(whole);
        List<String> ids = new ArrayList<>();
        figures.fieldNames().forEachRemaining(ids::add);
        assertEquals(
                List.of(
                        "cpu1024x16",
                        "messages1024x16",
                        "bytes1024x16",
                        "client1024x16",
                        "latency1024x16",
                        "memory1024x16",
                        "workers"),
                ids);
        ids.forEach(id -> assertTrue(page.contains("id=\"" + id + "\""), id));
        JsonNode reads = figures.get("messages1024x16").get("series").get(0);
        assertEquals("READs: requests and answers", reads.get("name").asText());
        assertEquals(4.12, reads.get("data").get(0).get("value").asDouble()); // farm
        assertEquals(6.18, reads.get("data").get(1).get("value").asDouble()); // pilaf
    }

    @Test
    void shouldMarkWhatIsWrong() throws IOException {
        CompareRow row = results.rows().getFirst();
        CompareRow wrong = new CompareRow(
                row.system(),
                row.kind(),
                row.server(),
                row.valueBytes(),
                row.window(),
                row.mix(),
                row.operations(),
                row.values(),
                row.rounds(),
                row.cpu(),
                row.cpuByThreads(),
                row.counts(),
                row.answers(),
                Map.of("responderReads", 1.5),
                row.retries(),
                Map.of("WRONG_VALUE", 3L),
                row.memory());
        CompareResults spoilt = new CompareResults(
                results.schema(),
                results.study(),
                results.machine(),
                results.startedAt(),
                results.scenario(),
                results.conditions(),
                List.of(wrong),
                results.workers(),
                results.nodes(),
                results.hotKeys(),
                results.skipped(),
                Map.of("pilaf", "the server ended with 1"),
                results.promises());
        assertEquals(4, spoilt.errors());
        List<String> warnings = new CompareSummary(spoilt).warnings();
        assertTrue(warnings.getFirst().startsWith("4 operations or systems went wrong"), warnings::toString);
        assertTrue(
                warnings.stream()
                        .anyMatch(each -> each.contains("2.060 READs per operation, the server's device 1.500")),
                warnings::toString);
        String page = text(page(spoilt));
        assertTrue(page.contains("<tr class=\"wrong\"><td>farm</td>"), page);
        assertTrue(page.contains("<strong>pilaf</strong>: failed: the server ended with 1"), page);
    }

    @Test
    void shouldShowWhatWasCountedOnSeveralNodes() throws IOException {
        NodesRow near = results.nodes().get(1);
        assertEquals(1, near.entries(), 1e-6);
        assertEquals(2.0 / 15, near.farEntries(), 1e-4);
        String text = text(page(results));
        assertTrue(
                text.contains("<td>3 nodes, 80 % nearby</td><td>1.120</td><td>2.120</td><td>0.883</td><td>139</td>"),
                text);
        assertTrue(text.contains("<td>3 nodes, skew 0.9, mix A, cache of 49</td>"), text);
        StringWriter table = new StringWriter();
        new CompareTable(results).print(new PrintWriter(table));
        assertTrue(table.toString().contains("3 nodes, 7 filter bits"), table::toString);
    }

    @Test
    void shouldJudgeWhatWasCountedOnSeveralNodes() {
        for (Judgement each : NodesClaims.judge(results)) {
            assertEquals(Verdict.HOLDS, each.verdict(), each::toString);
        }
        assertEquals(
                "3 nodes: entries per GET 1.118 with 0 bits, 1.007 with 4 bits, 1.001 with 7 bits, 1.000 with 11 bits",
                NodesClaims.filter(results).found());
    }

    /** A worker that takes its own pairs from others, bits that spare nothing, a cache that spares nothing. */
    @Test
    void shouldNoticeCountsThatAreOthers() {
        assertEquals(
                Verdict.DOES_NOT_HOLD,
                NodesClaims.locality(with(NodesRow.Block.LOCALITY, Map.of("farReadBytes", 673.0)))
                        .verdict());
        assertEquals(
                Verdict.DOES_NOT_HOLD,
                NodesClaims.filter(with(NodesRow.Block.FILTER, Map.of("READS", 2.12)))
                        .verdict());
        assertEquals(
                Verdict.DOES_NOT_HOLD,
                NodesClaims.cache(with(NodesRow.Block.CACHE, Map.of("READS", 2.0)))
                        .verdict());
        CompareResults none = withNodes(List.of());
        assertEquals(List.of(), NodesClaims.judge(none));
        assertEquals(Verdict.NOT_MEASURED, NodesClaims.cache(none).verdict());
    }

    /** The same results, but for some counts of all rows of a block. */
    private CompareResults with(NodesRow.Block block, Map<String, Double> counts) {
        return withNodes(results.nodes().stream()
                .map(row -> {
                    Map<String, Double> all = new HashMap<>(row.counts());
                    all.putAll(row.block() == block ? counts : Map.of());
                    return new NodesRow(
                            row.block(),
                            row.nodes(),
                            row.pairs(),
                            row.localityPercent(),
                            row.filterBits(),
                            row.cacheEntries(),
                            row.skew(),
                            row.mix(),
                            row.operations(),
                            all,
                            row.errors());
                })
                .toList());
    }

    @Test
    void shouldJudgeRaces() throws IOException {
        assertEquals(Verdict.HOLDS, HotKeysClaims.retries(results).verdict());
        for (HotKeysRow wrong : List.of(
                new HotKeysRow(40, 3000, 0, 0.2, Map.of()),
                new HotKeysRow(40, 3000, 0, 0.002, Map.of()),
                new HotKeysRow(400, 3000, 0.05, 0, Map.of()))) {
            CompareResults others =
                    with(results.nodes(), List.of(results.hotKeys().getFirst(), wrong));
            assertEquals(Verdict.DOES_NOT_HOLD, HotKeysClaims.retries(others).verdict(), wrong::toString);
        }
        assertTrue(text(page(results)).contains("<td>40</td><td>0.0040</td><td>0.0180</td>"));
    }

    private CompareResults withNodes(List<NodesRow> nodes) {
        return with(nodes, results.hotKeys());
    }

    private CompareResults with(List<NodesRow> nodes, List<HotKeysRow> hotKeys) {
        return new CompareResults(
                results.schema(),
                results.study(),
                results.machine(),
                results.startedAt(),
                results.scenario(),
                results.conditions(),
                results.rows(),
                results.workers(),
                nodes,
                hotKeys,
                results.skipped(),
                results.failed(),
                results.promises());
    }
}
