package org.softrdma.bench.wimpy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.Mockito;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.cpu.FunctionProfile;
import org.softrdma.bench.cpu.ThreadClass;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.study.CpuShares;
import org.softrdma.bench.study.RunWarning;
import org.softrdma.bench.workload.GetLoad;

/** The table, results.json and report.html of results whose numbers are known. */
class StudyResultsTest {
    private static final int LENGTH = 1024;
    private static final int WINDOW = 16;
    private static final String EVIL = "</script><script>alert(1)</script>&\"";

    @TempDir
    private Path directory;

    private static WimpyPlan plan(List<Integer> throttles, List<Integer> coreCounts) {
        return new WimpyPlan(
                "softrdma wimpy --quick",
                List.of(LENGTH),
                List.of(WINDOW),
                8,
                10,
                throttles,
                coreCounts,
                List.of(),
                false,
                Set.of(),
                new WimpyPlan.Timing(3, 1, 0),
                Cores.of(3));
    }

    private static MeasuredSystem system(MeasuredSystem.Kind kind, String name, String protocol) {
        boolean read = kind == MeasuredSystem.Kind.SOFTRDMA_READ;
        return new MeasuredSystem(
                kind,
                name,
                read ? "sim" : null,
                protocol,
                new MeasuredSystem.Server(
                        Mockito.mock(GetLoad.class), Mockito.mock(ServerMeter.class), read ? () -> 0L : null));
    }

    private static WimpyRow row(MeasuredSystem system, int percent, int cores, double... serverCpu) {
        WimpyRow row = new WimpyRow(system, LENGTH, WINDOW, percent, cores);
        boolean read = system.kind() == MeasuredSystem.Kind.SOFTRDMA_READ;
        for (double value : serverCpu) {
            row.rounds.add(WimpyRow.GETS_PER_SECOND, 1000 * value);
            row.rounds.add(WimpyRow.SERVER_CPU, value);
            row.rounds.add(WimpyRow.SERVER_CORE, value + 0.5);
            row.rounds.add(WimpyRow.ONE_SIDED, read ? 1 : Double.NaN);
        }
        row.shares.add(
                new CpuUse(
                        10_000,
                        4000,
                        0,
                        1000,
                        3000,
                        Map.of(ThreadClass.RNIC, 3000L, ThreadClass.GC, 1000L),
                        Map.of(ThreadClass.RNIC, 600L, ThreadClass.GC, 900L)),
                2);
        return row;
    }

    private static final MeasuredSystem READ = system(MeasuredSystem.Kind.SOFTRDMA_READ, "softrdma", "READ arena");
    private static final MeasuredSystem MG = system(MeasuredSystem.Kind.MEMCACHED, "memcached 1", "mg");
    private static final MeasuredSystem GET = system(MeasuredSystem.Kind.MEMCACHED, "memcached 1", "get");
    private static final MeasuredSystem C = system(MeasuredSystem.Kind.FLOOR, "C floor", "READ");

    private static StudyResults results(WimpyPlan plan, List<WimpyRow> rows) {
        return new StudyResults(
                plan,
                "2026-01-02T03:04:05Z",
                MachineDescription.here(null),
                "loopback",
                rows,
                Map.of("redis", "redis-server is not installed; " + EVIL),
                plan.throttled()
                        ? Optional.of(new StudyResults.Slowing("quota", "bursts, not a slower clock"))
                        : Optional.empty());
    }

    /** The paper's figure 3: of memcached by classic gets and of READ, with the widest window, unlimited. */
    @Test
    void shouldNameFunctionsWhereSomebodyLooked() throws IOException {
        WimpyRow looked = row(GET, 100, 1, 4, 4, 4);
        assertTrue(looked.isProfiled(WINDOW));
        assertTrue(row(READ, 100, 1, 4).isProfiled(WINDOW));
        assertFalse(looked.isProfiled(WINDOW + 1), "a narrower window");
        assertFalse(row(MG, 100, 1, 4).isProfiled(WINDOW), "another way to ask");
        assertFalse(row(C, 100, 1, 4).isProfiled(WINDOW), "no server of values");
        assertFalse(row(GET, 50, 1, 4).isProfiled(WINDOW), "a slower server");
        Map<String, Double> percents = new HashMap<>();
        for (int i = 1; i <= 9; i++) {
            percents.put("function_" + i, i / 2.0);
        }
        looked.profile = new FunctionProfile(percents);
        StudyResults results = results(plan(List.of(100), List.of(1)), List.of(row(READ, 100, 1, 3, 3, 3), looked));
        JsonNode rows = new ObjectMapper()
                .readTree(new WimpyJson(results).write(directory).toFile())
                .get("results");
        assertFalse(rows.get(0).has("serverCpuPercentByFunction"));
        assertEquals(
                4.5,
                rows.get(1).get("serverCpuPercentByFunction").get("function_9").asDouble());
        String page = Files.readString(new WimpyPage(results).write(directory));
        assertTrue(page.contains("<td>function_9</td><td>4.5</td>"), "the largest first");
        assertTrue(page.indexOf("function_9<") < page.indexOf("function_2<"), "in their order");
        assertFalse(page.contains("function_1<"), "the ninth is left out");
        assertFalse(Files.readString(new WimpyPage(simple()).write(directory)).contains("Functions that the server"));
    }

    private static StudyResults simple() {
        return results(
                plan(List.of(100), List.of(1)),
                List.of(
                        row(GET, 100, 1, 9, 9, 9, 9),
                        row(MG, 100, 1, 8, 4, 4, 4),
                        row(READ, 100, 1, 4, 1.8, 2, 2),
                        row(C, 100, 1, 2, 1, 1, 1)));
    }

    @Test
    void shouldCompareThisBuildWithTheOtherRoundByRound() {
        MeasuredSystem.Kind kind = MeasuredSystem.Kind.SOFTRDMA_TCP;
        WimpyRow ours = row(system(kind, "softrdma", "mg" + MeasuredSystem.THIS_BUILD), 100, 1, 2, 30, 4);
        WimpyRow theirs = row(system(kind, "softrdma", "mg" + MeasuredSystem.OTHER_BUILD), 100, 1, 1, 30, 8);
        WimpyRow other = row(system(MeasuredSystem.Kind.SOFTRDMA_READ, "softrdma", "READ"), 100, 1, 1);
        StudyResults results = results(plan(List.of(100), List.of(1)), List.of(theirs, ours, other));

        assertEquals(Optional.of(1.0), results.ratioToOtherBuild(ours));
        assertEquals(Optional.empty(), results.ratioToOtherBuild(theirs));
        assertEquals(Optional.empty(), results.ratioToOtherBuild(other));
        StringWriter text = new StringWriter();
        new WimpyTable(results).print(new PrintWriter(text));
        assertTrue(text.toString().contains("1.00 of the other build"), text.toString());
    }

    @Test
    void shouldCompareTlsWithTls() {
        WimpyRow ours = row(system(MeasuredSystem.Kind.SOFTRDMA_TLS, "softrdma", "mg in TLS"), 100, 1, 6, 6, 6);
        WimpyRow plain = row(MG, 100, 1, 2, 2, 2);
        WimpyRow theirs = row(system(MeasuredSystem.Kind.MEMCACHED_TLS, "memcached 1", "mg in TLS"), 100, 1, 5, 4, 4);
        StudyResults results = results(plan(List.of(100), List.of(1)), List.of(plain, theirs, ours));
        assertEquals(1.5, results.ratio(ours));
        assertEquals(1, results.ratio(theirs));
        assertEquals(1, results.ratio(plain));
    }

    @Test
    void shouldWriteSchema2() throws IOException {
        JsonNode results = new ObjectMapper()
                .readTree(
                        new WimpyJson(simple()).write(directory.resolve("new")).toFile());
        assertEquals(2, results.get("schema").asInt());
        assertEquals("softrdma wimpy --quick", results.get("scenario").asText());
        assertTrue(results.get("machine").get("cpus").asInt() > 0);
        assertEquals("redis", results.get("skipped").get(0).get("system").asText());
        JsonNode read = results.get("results").get(2);
        for (String name : List.of(
                "system",
                "provider",
                "protocol",
                "valueBytes",
                "clients",
                "window",
                "serverCores",
                "throttle",
                "network",
                "getsPerSecond",
                "serverCpuMicrosPerGet",
                "serverCoreMicrosPerGet",
                "clientCpuMicrosPerGet",
                "p50Micros",
                "p99Micros",
                "p999Micros",
                "oneSidedFraction",
                "errors",
                "rounds")) {
            assertTrue(read.has(name), name);
        }
        assertEquals(2, read.get("serverCpuMicrosPerGet").asDouble());
        assertEquals(1, read.get("oneSidedFraction").asDouble());
        assertEquals(0.5, read.get("serverCpuRatioToMemcached").asDouble());
        assertEquals(
                1.5, read.get("serverCpuMicrosPerGetByThreadClass").get("rnic").asDouble());
        assertEquals(4, read.get("rounds").size());
        assertEquals(4, read.get("rounds").get(0).get("serverCpuMicrosPerGet").asDouble());
        assertTrue(read.get("p50Micros").isNull());
        JsonNode get = results.get("results").get(0);
        assertTrue(get.get("provider").isNull());
        assertTrue(get.get("oneSidedFraction").isNull());
        assertTrue(get.get("rounds").get(0).get("oneSidedFraction").isNull());
    }

    @Test
    void shouldCompareWithTheCheapestFormOfMemcachedInTheSameCell() {
        List<WimpyRow> rows = new ArrayList<>(simple().rows());
        rows.add(row(MG, 50, 1, 1, 1, 1));
        StudyResults results = results(plan(List.of(100, 50), List.of(1)), rows);
        assertEquals(
                "mg",
                results.cheapestMemcached(rows.get(2)).orElseThrow().system.protocol());
        assertEquals(0.5, results.ratio(rows.get(2)));
        assertEquals(0.25, results.ratio(rows.get(3)), 1e-9);
        StringWriter text = new StringWriter();
        new WimpyTable(results).print(new PrintWriter(text));
        String table = text.toString();
        assertTrue(
                table.lines()
                        .anyMatch(line -> line.matches(
                                "softrdma, READ arena +2000 +2\\.00 +1\\.80 to 4\\.00 +2\\.50 +0\\.50 .*")),
                table);
        assertTrue(
                table.lines()
                        .anyMatch(line ->
                                line.matches("memcached 1, mg +4000 +4\\.00 +4\\.00 to 8\\.00 +4\\.50 +1\\.00\\* .*")),
                table);
        assertTrue(table.contains("1 KiB, 16 outstanding, quota 50 %"), table);
        assertTrue(table.contains("bursts, not a slower clock"), table);
        assertTrue(table.contains("skipped: redis: redis-server is not installed"), table);
    }

    @Test
    void shouldSplitTheServersCpu() {
        CpuShares shares = row(READ, 100, 1, 1).shares;
        assertEquals(1.2, shares.kernel(), 1e-9);
        assertEquals(0.3, shares.rnic(), 1e-9);
        assertEquals(0, shares.application(), 1e-9);
        assertEquals(0.5, shares.virtualMachine(), 1e-9);
        assertEquals(0, shares.compilingPercent());
        assertTrue(shares.isWarm());
        CpuShares remote = new CpuShares();
        remote.add(CpuUse.ofWhole(10_000, 1000, 3000), 2);
        assertEquals(1.5, remote.kernel(), 1e-9);
        assertEquals(0, remote.rnic(), 1e-9);
        assertEquals(0.5, remote.application(), 1e-9);
        assertEquals(0, remote.virtualMachine(), 1e-9);
    }

    @Test
    void shouldWritePageThatNeedsNothingElse() throws IOException {
        String page = Files.readString(new WimpyPage(simple()).write(directory));
        assertTrue(
                page.contains("less CPU at 1 KiB (0.50\u00d7, rounds 0.45 to 0.50, C floor 0.25\u00d7)"),
                page.substring(0, 5000));
        assertTrue(page.contains("<div class=\"big\">0.50\u00d7</div>"));
        assertTrue(page.contains("<div class=\"chart\" id=\"performance16\""));
        assertTrue(page.contains("<div class=\"chart\" id=\"shares16\""));
        assertFalse(page.contains("id=\"cores\""));
        assertTrue(page.contains(
                "<td>softrdma, READ arena</td><td>2000</td><td>1800 to 4000</td><td>2.00</td><td>1.80 to 4.00</td>"));
        assertTrue(page.contains("echarts.init"));
        Matcher fetched = Pattern.compile(
                        "(?i)<(link|img|iframe|object|embed|base)\\b|<script[^>]* src|@import|url\\(|\\bfetch\\(")
                .matcher(page.replaceFirst("(?s)<script>/?\\s*/\\*.*?</script>", ""));
        assertFalse(fetched.find(), () -> "the page fetches something: " + fetched.group());
        assertFalse(page.contains(EVIL));
        assertTrue(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
        assertEquals(3, count(page, "<script"), "data, library and what starts it");
        assertEquals(3, count(page, "</script"));
    }

    @Test
    void shouldKeepNamesOutOfTheScript() throws IOException {
        MeasuredSystem evil = system(MeasuredSystem.Kind.MEMCACHED, EVIL, "mg");
        List<WimpyRow> rows = List.of(row(evil, 100, 1, 1, 1, 1), row(READ, 100, 1, 1, 1, 1));
        String page = Files.readString(new WimpyPage(results(plan(List.of(100), List.of(1)), rows)).write(directory));
        assertEquals(3, count(page, "</script"));
        JsonNode options = options(page);
        assertEquals(
                EVIL + ", mg",
                options.get("performance16")
                        .get("yAxis")
                        .get(0)
                        .get("data")
                        .get(0)
                        .asText());
    }

    @Test
    void shouldDrawSlowerServersAndMoreCores() throws IOException {
        List<WimpyRow> rows = List.of(
                row(MG, 100, 1, 4, 4, 4),
                row(READ, 100, 1, 3, 3, 3),
                row(MG, 50, 1, 4, 4, 4),
                row(READ, 50, 1, 3, 3, 3),
                row(MG, 100, 2, 8, 8, 8),
                row(READ, 100, 2, 6, 6, 6));
        String page =
                Files.readString(new WimpyPage(results(plan(List.of(100, 50), List.of(1, 2)), rows)).write(directory));
        JsonNode options = options(page);
        JsonNode performance = options.get("performance16").get("series");
        assertEquals(4 + 2, performance.size(), "two measures, two speeds, and whiskers of each measure");
        assertEquals("50 % speed", performance.get(1).get("name").asText());
        assertEquals(3, performance.get(2).get("data").get(1).get("value").asDouble());
        JsonNode cores = options.get("cores").get("series");
        assertEquals("memcached 1, mg", cores.get(0).get("name").asText());
        assertEquals(8, cores.get(0).get("data").get(1).asDouble());
        assertEquals(5, options.get("shares16").get("series").size());
        assertTrue(page.contains("bursts, not a slower clock"));
    }

    @Test
    void shouldKeepRowsOverALinkApart() throws IOException {
        List<WimpyRow> rows = List.of(
                row(GET, 100, 1, 4, 4, 4),
                row(READ, 100, 1, 3, 3, 3),
                over(row(GET, 100, 1), 1000, 2),
                over(row(GET, 50, 1), 1000, 2),
                over(row(GET, 100, 1), 10_000, 8),
                over(row(GET, 50, 1), 10_000, 5));
        StudyResults results = results(plan(List.of(100, 50), List.of(1)), rows);
        assertEquals(5, results.cells().size());
        assertEquals(0.75, results.ratio(rows.get(1)));
        assertEquals("1 KiB, 16 outstanding, quota 50 %, 10 Gbit/s", results.title(rows.getLast()));
        assertEquals(1, new WimpySummary(results).tiles().size());

        JsonNode json = new ObjectMapper()
                .readTree(new WimpyJson(results).write(directory).toFile())
                .get("results");
        assertTrue(json.get(0).get("linkMegabits").isNull());
        assertEquals(10_000, json.get(5).get("linkMegabits").asInt());
        assertEquals("link of 10 Gbit/s", json.get(5).get("network").asText());

        String page = Files.readString(new WimpyPage(results).write(directory));
        assertTrue(page.contains("token bucket filter"));
        JsonNode lines = options(page).get("links").get("series");
        assertEquals(2, lines.size());
        assertEquals("memcached 1, get, 1 Gbit/s", lines.get(0).get("name").asText());
        assertEquals("dashed", lines.get(0).get("lineStyle").get("type").asText());
        assertEquals("[5.0,8.0]", lines.get(1).get("data").toString());
        assertEquals(2 + 2, options(page).get("performance16").get("series").size(), "two measures, one speed");
    }

    private static WimpyRow over(WimpyRow row, int megabits, double getsInThousands) {
        WimpyRow over = row.over(megabits);
        for (int round = 0; round < 3; round++) {
            over.rounds.add(WimpyRow.GETS_PER_SECOND, 1000 * getsInThousands);
        }
        return over;
    }

    @Test
    void shouldClaimNoDifferenceThatRoundsDoNotAgreeOn() throws IOException {
        List<WimpyRow> rows = List.of(row(MG, 100, 1, 4, 4, 4, 4), row(READ, 100, 1, 2, 2, 2, 5));
        String page = Files.readString(new WimpyPage(results(plan(List.of(100), List.of(1)), rows)).write(directory));
        assertTrue(
                page.contains("not clearly more or less CPU at 1 KiB (0.50\u00d7, rounds 0.50 to 1.25)"),
                page.substring(0, 5000));
    }

    @Test
    void shouldSayFirstWhatAGetCostsByEachWay() {
        MeasuredSystem same = system(MeasuredSystem.Kind.SOFTRDMA_SAME_HOST, "softrdma", "READ, same host");
        List<WimpyRow> rows =
                List.of(row(MG, 100, 1, 4, 4, 4), row(READ, 100, 1, 2, 2, 2), row(same, 100, 1, 0.01, 0.02, 0.03));
        String answer = new WimpySummary(results(plan(List.of(100), List.of(1)), rows)).answer();
        assertTrue(
                answer.startsWith(
                        "A GET of 1 KiB with 16 outstanding cost the server 4.00 \u00b5s of CPU by memcached's mg"
                                + " and 2.00 \u00b5s by one-sided READ over TCP, because"),
                answer);
        assertTrue(
                answer.contains("; it cost 0.02 \u00b5s by READ on the same host, because the client's own"), answer);
        String without = new WimpySummary(simple()).answer();
        assertFalse(without.contains("same host"), without);
    }

    @Test
    void shouldWarnOfErrorsAndSayWhatTheyWere() {
        WimpyRow bad = row(READ, 100, 1, 1, 1, 1);
        bad.errors = 3;
        bad.faults = "{STALE=1}";
        assertEquals(
                List.of("3 GETs returned nothing or a wrong value: do not use these figures."
                        + " softrdma, READ arena, 1 KiB, 16 outstanding, in its last bad round: {STALE=1}."),
                texts(results(plan(List.of(100), List.of(1)), List.of(bad))));
    }

    private static List<String> texts(StudyResults results) {
        return new WimpySummary(results)
                .warnings().stream().map(RunWarning::text).toList();
    }

    /** A row that compiled for so long, in 10 us. */
    private static WimpyRow compiling(MeasuredSystem system, long jitNs, long cpuNs) {
        WimpyRow cold = new WimpyRow(system, LENGTH, WINDOW, 100, 1);
        cold.rounds.add(WimpyRow.SERVER_CPU, 1);
        cold.shares.add(
                new CpuUse(
                        10_000,
                        cpuNs,
                        0,
                        cpuNs,
                        0,
                        Map.of(ThreadClass.JIT, jitNs, ThreadClass.RNIC, cpuNs - jitNs),
                        Map.of(ThreadClass.JIT, jitNs, ThreadClass.RNIC, cpuNs - jitNs)),
                2);
        return cold;
    }

    @Test
    void shouldWarnOnceOfServersThatWereStillCompiling() {
        MeasuredSystem same = system(MeasuredSystem.Kind.SOFTRDMA_SAME_HOST, "softrdma", "READ, same host");
        List<WimpyRow> rows = new ArrayList<>(List.of(row(MG, 100, 1, 4, 4, 4), compiling(READ, 2000, 4000)));
        // More than half of next to nothing is next to nothing.
        rows.add(compiling(same, 90, 100));
        assertEquals(
                List.of("Servers were not warm yet in 1 of 3 rows: they compiled bytecode: softrdma, READ arena, 1"
                        + " KiB, 16 outstanding (50 % of its CPU)."),
                texts(results(plan(List.of(100), List.of(1)), rows)));
        for (int i = 0; i < 5; i++) {
            rows.add(compiling(READ, 2000, 4000));
        }
        List<String> many = texts(results(plan(List.of(100), List.of(1)), rows));
        assertEquals(1, many.size(), many::toString);
        assertTrue(many.getFirst().endsWith("; and 2 more."), many::toString);
        assertTrue(texts(simple()).isEmpty());
    }

    /** A reader divides the two numbers below the ratio. */
    @Test
    void shouldSayWhyTheHeadlineIsNotTheQuotientOfItsNumbers() throws IOException {
        List<WimpyRow> rows = List.of(row(MG, 100, 1, 1.0, 0.8, 0.95), row(READ, 100, 1, 1.08, 1.04, 1.026));
        StudyResults results = results(plan(List.of(100), List.of(1)), rows);
        WimpySummary.Tile tile = new WimpySummary(results).tiles().getFirst();
        assertEquals("1.08\u00d7", tile.big());
        assertTrue(
                tile.detail()
                        .startsWith(
                                "of memcached's CPU (median of 3 rounds' ratios, 1.08 to 1.30): 1.04 \u00b5s of server"
                                        + " CPU"),
                tile::toString);
        assertEquals(List.of(), texts(results), "1.04 / 0.95 is 1.09");
        StudyResults apart = results(
                plan(List.of(100), List.of(1)),
                List.of(row(MG, 100, 1, 1.0, 0.8, 0.8), row(READ, 100, 1, 1.08, 1.0, 0.864)));
        assertEquals(
                List.of("The median of the rounds' ratios differs by more than 10 % from the quotient of the two"
                        + " medians, because the machine's pace changed between rounds: softrdma, READ arena, 1"
                        + " KiB, 16 outstanding (1.08 and 1.25)."),
                texts(apart));
        JsonNode json = new ObjectMapper()
                .readTree(new WimpyJson(apart).write(directory).toFile());
        assertEquals(
                "RATIO_IS_NO_QUOTIENT", json.get("warnings").get(0).get("kind").asText());
        assertFalse(json.get("warnings").get(0).get("spoilsVerdicts").asBoolean());
    }

    /** 50 132, 49 520 and 134 774 GETs per second are no 50 132. */
    @Test
    void shouldSayTooNoisyInsteadOfANumber() throws IOException {
        WimpyRow wide = row(READ, 100, 1, 50.132, 49.520, 134.774);
        StudyResults results = results(plan(List.of(100), List.of(1)), List.of(row(MG, 100, 1, 40, 40, 40), wide));
        WimpySummary summary = new WimpySummary(results);
        assertEquals("too noisy", summary.tiles().getFirst().big());
        assertFalse(summary.answer().contains("50.13"), summary.answer());
        assertTrue(summary.answer().contains("too noisy: rounds 1.24 to 3.37"), summary.answer());
        assertTrue(texts(results).getFirst().contains("(49.52 to 134.77 \u00b5s)"), texts(results)::toString);
        StringWriter text = new StringWriter();
        new WimpyTable(results).print(new PrintWriter(text));
        assertTrue(
                text.toString()
                        .lines()
                        .anyMatch(line ->
                                line.matches("softrdma, READ arena +too noisy +too noisy +49\\.52 to 134\\.77 .*")),
                text::toString);
        JsonNode row = new ObjectMapper()
                .readTree(new WimpyJson(results).write(directory).toFile())
                .get("results")
                .get(1);
        assertEquals(
                "[49.52,134.774]",
                row.get("spread").get("serverCpuMicrosPerGet").toString());
        assertEquals(
                "[\"getsPerSecond\",\"serverCpuMicrosPerGet\"]",
                row.get("tooNoisy").toString());
        assertTrue(wide.isNoisy());
        wide.rounds.add(WimpyRow.SERVER_CPU, 51);
        wide.rounds.add(WimpyRow.GETS_PER_SECOND, 51_000);
        assertFalse(wide.isNoisy(), "one of four rounds may be far from the others");
    }

    @Test
    void shouldDrawWhiskersFromTheLeastToTheMostOfTheRounds() throws IOException {
        JsonNode option = options(Files.readString(new WimpyPage(simple()).write(directory)))
                .get("performance16");
        List<JsonNode> whiskers = new ArrayList<>();
        option.get("series").forEach(series -> {
            if (series.get("type").asText().equals("line")) {
                whiskers.add(series);
            }
        });
        assertEquals(2, whiskers.size(), "GETs per second, and CPU");
        // get is the same in all rounds; mg stands in the middle of the second row.
        assertEquals(
                "[[4.0,1.5],[8.0,1.5],[null,null]]",
                new ObjectMapper()
                        .writeValueAsString(List.of(
                                whiskers.get(1).get("data").get(0),
                                whiskers.get(1).get("data").get(1),
                                whiskers.get(1).get("data").get(2))));
        int axis = whiskers.get(1).get("yAxisIndex").asInt();
        assertEquals(4, option.get("yAxis").get(axis).get("max").asInt());
        assertEquals(1, option.get("yAxis").get(axis).get("gridIndex").asInt());
    }

    /** READ on the same host answers so many more GETs that the others would be a line of one pixel. */
    @Test
    void shouldDrawALogarithmicAxisWhereOneRowWouldFlattenTheOthers() throws IOException {
        MeasuredSystem same = system(MeasuredSystem.Kind.SOFTRDMA_SAME_HOST, "softrdma", "READ, same host");
        List<WimpyRow> rows =
                List.of(row(MG, 100, 1, 4, 4, 4), row(READ, 100, 1, 5, 5, 5), row(same, 100, 1, 80, 80, 80));
        JsonNode axes = options(Files.readString(
                        new WimpyPage(results(plan(List.of(100), List.of(1)), rows)).write(directory)))
                .get("performance16")
                .get("xAxis");
        assertEquals("log", axes.get(0).get("type").asText());
        assertEquals(1, axes.get(0).get("min").asDouble());
        JsonNode usual = options(Files.readString(new WimpyPage(simple()).write(directory)))
                .get("performance16")
                .get("xAxis");
        assertEquals("value", usual.get(0).get("type").asText());
    }

    @Test
    void shouldMarkRowsThatAreNotOneSided() throws IOException {
        WimpyRow half = new WimpyRow(READ, LENGTH, WINDOW, 100, 1);
        for (int round = 0; round < 3; round++) {
            half.rounds.add(WimpyRow.SERVER_CPU, 1);
            half.rounds.add(WimpyRow.ONE_SIDED, 0.94);
        }
        StudyResults results = results(plan(List.of(100), List.of(1)), List.of(row(MG, 100, 1, 4, 4, 4), half));
        StringWriter text = new StringWriter();
        new WimpyTable(results).print(new PrintWriter(text));
        assertTrue(
                text.toString()
                        .lines()
                        .anyMatch(line -> line.matches("softrdma, READ arena .* 0\\.940 +NOT ONE-SIDED")),
                text::toString);
        String page = Files.readString(new WimpyPage(results).write(directory));
        assertTrue(page.contains("1 KiB, 16 outstanding (0.94 READs per GET)"), page.substring(0, 5000));
        assertTrue(page.indexOf("class=\"tiles\"") < page.indexOf("class=\"warning\""), "the answer comes first");
        assertTrue(page.contains("<tr class=\"wrong\"><td>softrdma, READ arena</td>"));
        assertTrue(simple().notOneSided().isEmpty());
    }

    @Test
    void shouldSayWhatIsMissingAndWhatIsWrong() throws IOException {
        WimpyRow wrong = row(READ, 100, 1, 1, 1, 1);
        wrong.errors = 3;
        String page = Files.readString(
                new WimpyPage(results(plan(List.of(100), List.of(1)), List.of(wrong))).write(directory));
        assertTrue(page.contains("This run could not measure the CPU of any memcached"));
        assertTrue(page.contains("3 GETs returned nothing or a wrong value"));
        assertFalse(page.substring(0, page.indexOf("<script>")).contains("NaN"));
    }

    private static JsonNode options(String page) throws IOException {
        Matcher data = Pattern.compile("(?s)id=\"options\">(.*?)</script>").matcher(page);
        assertTrue(data.find());
        return new ObjectMapper().readTree(data.group(1));
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }
}
