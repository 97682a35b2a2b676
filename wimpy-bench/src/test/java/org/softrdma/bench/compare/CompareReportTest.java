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
import org.softrdma.bench.study.RunWarning;

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
        assertTrue(text(page).contains("<td>nessie, RNIC first</td><td>110000 (1.00)</td><td>105000 (0.95)</td>"));
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

    /** The fixed results have herd-rc at three times kv's cost, on another wire or not. */
    @Test
    void shouldJudgeTheChoiceOfTransportsByServerCpuOfOneRun() {
        CompareRow kv = CompareResults.of(results.cell(1024, 16, "C"), "kv").orElseThrow();
        List<CompareRow> rows = new ArrayList<>(results.rows());
        rows.add(with(kv, "herd", CompareRow.Server.SLEEPING, kv.values(), kv.rounds()));
        assertEquals(Verdict.HOLDS, HerdClaims.unreliable(withRows(rows)).verdict());
        assertEquals(Verdict.NOT_MEASURED, HerdClaims.unreliable(results).verdict());
    }

    @Test
    void shouldShowTheCountsWhereAClaimFlips() {
        List<Judgement> list = Claims.judge(results);
        String pilaf = text(list, "Pilaf, 1 KiB, 16 outstanding");
        assertTrue(pilaf.startsWith("DOES_NOT_HOLD 2.10 \u00b5s and 1.20 \u00b5s, 1.75 times as much"), pilaf);
        assertTrue(pilaf.contains("pilaf has 6.18 messages per GET (3.09 READs)"), pilaf);
        assertFalse(pilaf.contains("because") || pilaf.contains("does more"), "counts name no cause: " + pilaf);
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
                Pattern.compile("pilaf +500000 +2\\.10 +2\\.10 to 2\\.10 +2\\.30 +1\\.90 +6\\.18 +120, 310  entry"
                                + " retries 0\\.0001")
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
        List<RunWarning> warnings = new CompareSummary(spoilt).warnings();
        assertTrue(warnings.getFirst().text().startsWith("4 operations or systems went wrong"), warnings::toString);
        assertTrue(
                warnings.stream().anyMatch(each -> each.text().contains("clients 2.060, device 1.500")),
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
    void shouldShowWhatWasCountedWithoutAVerdict() throws IOException {
        for (Judgement each : NodesClaims.judge(results)) {
            assertEquals(Verdict.NOT_JUDGED, each.verdict(), each::toString);
        }
        assertEquals(
                "3 nodes: entries per GET 1.118 with 0 bits, 1.007 with 4 bits, 1.001 with 7 bits, 1.000 with 11 bits",
                NodesClaims.filter(results).found());
        CompareResults none = withNodes(List.of());
        assertEquals(List.of(), NodesClaims.judge(none));
        assertEquals(Verdict.NOT_MEASURED, NodesClaims.cache(none).verdict());
        assertEquals(Verdict.NOT_JUDGED, HotKeysClaims.retries(results).verdict());
        assertTrue(text(page(results)).contains("<td>40</td><td>0.0040</td><td>0.0180</td>"));
    }

    /** The fixed results have a row whose server compiled. */
    @Test
    void shouldJudgeNothingWhileWarningsSayThatFiguresMeanLittle() throws IOException {
        CompareSummary summary = new CompareSummary(results);
        assertEquals(List.of(RunWarning.Kind.NOT_WARM), kinds(summary));
        for (List<Judgement> list : List.of(summary.claims(), summary.workersClaims())) {
            assertTrue(
                    list.stream()
                            .noneMatch(
                                    each -> each.verdict() == Verdict.HOLDS || each.verdict() == Verdict.DOES_NOT_HOLD),
                    list::toString);
        }
        Judgement claim = summary.claims().getFirst();
        assertTrue(claim.because().startsWith("Servers were not warm yet in 1 of 10 rows"), claim::toString);
        assertTrue(claim.found().startsWith("2.10 \u00b5s and 1.20"), "the numbers stay: " + claim);
        String page = text(page(results));
        assertTrue(page.contains("<td>not judged</td><td>Servers were not warm yet"), page);
        assertTrue(page.indexOf("class=\"answer\"") < page.indexOf("class=\"warning\""), "the answer comes first");
        CompareSummary warm = new CompareSummary(withRows(warmRows()));
        assertEquals(List.of(), kinds(warm));
        assertEquals(Verdict.DOES_NOT_HOLD, warm.claims().getFirst().verdict());
    }

    @Test
    void shouldJudgeNothingWhenTheMachineWasNotQuiet() {
        List<CompareRow> busy = warmRows().stream()
                .map(row -> {
                    Map<String, Double> values = new HashMap<>(row.values());
                    values.put(CompareRow.SERVER_WAITED, 40.0);
                    return with(row, values, row.rounds());
                })
                .toList();
        CompareSummary summary = new CompareSummary(withRows(busy));
        assertEquals(List.of(RunWarning.Kind.NOT_QUIET), kinds(summary));
        assertEquals(Verdict.NOT_JUDGED, summary.claims().getFirst().verdict());
        assertTrue(
                summary.claims().getFirst().because().contains("more than 40 %"),
                summary.claims().getFirst()::toString);
    }

    /** 50 132, 49 520 and 134 774 operations per second are no 50 132. */
    @Test
    void shouldShowHowFarRoundsAreApart() throws IOException {
        List<Map<String, Double>> rounds = List.of(
                Map.of(CompareRow.SERVER_CPU, 2.0),
                Map.of(CompareRow.SERVER_CPU, 2.1),
                Map.of(CompareRow.SERVER_CPU, 5.6));
        List<CompareRow> rows = warmRows().stream()
                .map(row -> row.system().equals("pilaf") ? with(row, row.values(), rounds) : row)
                .toList();
        CompareResults wide = withRows(rows);
        assertEquals(List.of(RunWarning.Kind.TOO_NOISY), kinds(new CompareSummary(wide)));
        Judgement claim = new CompareSummary(wide).claims().getFirst();
        assertEquals(Verdict.NOT_JUDGED, claim.verdict(), claim::toString);
        String page = page(wide);
        assertTrue(text(page).contains("<td>too noisy</td><td>2.00 to 5.60</td>"), "instead of a number");
        JsonNode json = new ObjectMapper()
                .readTree(CompareJson.write(wide, directory.resolve("wide")).toFile());
        assertEquals("TOO_NOISY", json.get("warnings").get(0).get("kind").asText());
        assertFalse(json.get("warnings").get(0).get("spoilsVerdicts").asBoolean());
        JsonNode pilaf = json.get("rows").get(1);
        assertEquals("[2.0,5.6]", pilaf.get("spread").get(CompareRow.SERVER_CPU).toString());
        assertEquals(wide, CompareJson.read(directory.resolve("wide/results.json")));
        StringWriter table = new StringWriter();
        new CompareTable(wide).print(new PrintWriter(table, true));
        assertTrue(table.toString().contains("2.00 to 5.60"), table::toString);
    }

    /** Mix A has systems that mix C has not, and the other way round. */
    @Test
    void shouldDrawTheSameRowsInBothPanels() throws IOException {
        JsonNode option = figures(page(results)).get("cpu1024x16");
        List<String> names = new ArrayList<>();
        option.get("yAxis").get(0).get("data").forEach(name -> names.add(name.asText()));
        assertEquals(7, names.size());
        assertEquals(
                option.get("yAxis").get(0).get("data"),
                option.get("yAxis").get(1).get("data"));
        for (JsonNode series : option.get("series")) {
            if (series.get("type").asText().equals("bar")
                    && series.get("xAxisIndex").asInt() == 1) {
                assertEquals(names.size(), series.get("data").size(), series::toString);
                assertTrue(
                        series.get("data").get(names.indexOf("kv")).get("value").isNull(), "not of mix A");
                assertFalse(series.get("data")
                        .get(names.indexOf("pilaf"))
                        .get("value")
                        .isNull());
            }
        }
    }

    private static List<RunWarning.Kind> kinds(CompareSummary summary) {
        return summary.warnings().stream().map(RunWarning::kind).toList();
    }

    private List<CompareRow> warmRows() {
        return results.rows().stream()
                .filter(row -> row.cpuByThreads().getOrDefault("jit", 0.0) == 0)
                .toList();
    }

    private static CompareRow with(CompareRow row, Map<String, Double> values, List<Map<String, Double>> rounds) {
        return with(row, row.system(), row.server(), values, rounds);
    }

    private static CompareRow with(
            CompareRow row,
            String system,
            CompareRow.Server server,
            Map<String, Double> values,
            List<Map<String, Double>> rounds) {
        return new CompareRow(
                system,
                row.kind(),
                server,
                row.valueBytes(),
                row.window(),
                row.mix(),
                row.operations(),
                values,
                rounds,
                row.cpu(),
                row.cpuByThreads(),
                row.counts(),
                row.answers(),
                row.responder(),
                row.retries(),
                row.errors(),
                row.memory());
    }

    private CompareResults withRows(List<CompareRow> rows) {
        return with(rows, results.nodes());
    }

    private CompareResults withNodes(List<NodesRow> nodes) {
        return with(results.rows(), nodes);
    }

    private CompareResults with(List<CompareRow> rows, List<NodesRow> nodes) {
        return new CompareResults(
                results.schema(),
                results.study(),
                results.machine(),
                results.startedAt(),
                results.scenario(),
                results.conditions(),
                rows,
                results.workers(),
                nodes,
                results.hotKeys(),
                results.skipped(),
                results.failed(),
                results.promises());
    }
}
