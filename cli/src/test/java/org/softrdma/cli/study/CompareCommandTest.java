package org.softrdma.cli.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import picocli.CommandLine;

class CompareCommandTest {
    private static final boolean SHORT = Boolean.getBoolean("softrdma.slow.short");
    private static final int ROUNDS = SHORT ? 1 : 2;

    @TempDir
    private Path directory;

    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        List<String> all = new ArrayList<>(List.of("compare"));
        all.addAll(List.of(arguments));
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err, true));
        commandLine.setOut(new PrintWriter(err, true));
        return commandLine.execute(all.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --designs=nobodys         | --designs nobodys: unknown, expected some of
            --designs=kv,kv           | --designs [kv, kv]: duplicate value
            --sizes=1X                | --sizes: '1X' is not a size
            --sizes=4                 | --sizes 4: expected 8 to 65536
            --sizes=9G                | --sizes 2147483647: expected 8 to 65536
            --window=0                | --window 0: expected 1 to 256
            --mixes=E                 | --mixes: mix E: expected one of A, B, C, D, F
            --mixes=A,A               | --mixes [A, A]: duplicate value
            --connections=0           | --connections 0: expected 1 to 64
            --pairs=1                 | --pairs 1: expected 2 to 1000000
            --skew=1                  | --skew 1.0: expected 0 or more and below 1
            --skew=much               | --skew much: expected a number
            --rounds=0                | --rounds 0: expected at least 1
            --seconds=0               | --seconds 0.0: expected more than 0
            --option=entries=3        | --option entries=3: expected DESIGN:NAME=VALUE
            --option=nobodys:x=3      | design nobodys: expected one of
            --seed=3                  | --seed, --operations and --nodes need --fabric too
            --nodes=3                 | --seed, --operations and --nodes need --fabric too
            --provider=none           | --provider none: unknown
            """)
    void shouldRefuseInOneLine(String option, String message) {
        assertEquals(ExitCode.USAGE, execute(option, "--out", directory.toString()));
        String first = err.toString().lines().findFirst().orElse("");
        assertTrue(first.startsWith("softrdma compare: " + message), err::toString);
    }

    @Test
    void shouldRefuseWhatAFabricHasNot() {
        assertEquals(ExitCode.USAGE, execute("--fabric", "--device", "crc=off", "--out", directory.toString()));
        assertTrue(err.toString().contains("--fabric has devices of its own"), err::toString);
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.USAGE, execute("--fabric", "--operations=0", "--out", directory.toString()));
        assertTrue(err.toString().contains("--operations 0: expected at least 1"), err::toString);
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.USAGE, execute("--fabric", "--nodes=1", "--out", directory.toString()));
        assertTrue(err.toString().contains("--nodes 1: expected 2 to 10, or 0 alone for none"), err::toString);
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.USAGE, execute("--fabric", "--nodes=3", "--designs=farm", "--out", directory.toString()));
        assertTrue(err.toString().contains("--nodes: only nessie has several nodes"), err::toString);
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.USAGE, execute("--fabric", "--quick"));
        assertTrue(err.toString().contains("mutually exclusive"), err::toString);
    }

    private JsonNode counted(String name, String seed) throws IOException {
        Path out = directory.resolve(name);
        int code = execute(
                "--fabric",
                "--seed",
                seed,
                "--pairs",
                "96",
                "--operations",
                "200",
                "--sizes",
                "32",
                "--out",
                out.toString());
        assertEquals(ExitCode.OK, code, err::toString);
        assertTrue(Files.readString(out.resolve("report.html")).contains("echarts.init"));
        return new ObjectMapper().readTree(out.resolve("results.json").toFile());
    }

    @Test
    void shouldCountTheSameForTheSameSeed() throws IOException {
        JsonNode first = counted("first", "5");
        JsonNode again = counted("again", "5");
        assertEquals(first.get("rows"), again.get("rows"));
        assertEquals(first.get("nodes"), again.get("nodes"));
        JsonNode other = counted("other", "6");
        assertNotEquals(first.get("rows"), other.get("rows"));
        Set<String> systems = new HashSet<>(first.get("rows").findValuesAsText("system"));
        for (StoreDesign design : StoreDesigns.all()) {
            assertTrue(
                    systems.contains(design.name()) || first.get("skipped").has(design.name()),
                    () -> first.get("failed").toString());
        }
        assertTrue(systems.containsAll(Set.of("kv", "kv-chunk")), systems::toString);
        assertEquals(0, first.get("errors").asLong());
        requireNodes(first.get("nodes"));
        for (JsonNode row : first.get("rows")) {
            JsonNode asked = row.get("counts").path("READS");
            JsonNode served = row.get("responder").path("responderReads");
            assertEquals(asked.asDouble(), served.asDouble(), 1e-9, row::toString);
            assertTrue(row.get("operations").asLong() >= 195, row::toString);
            assertEquals(0, row.get("values").size(), "nothing has a duration: " + row);
        }
    }

    /** Nessie's operations give up after half of the time that its entries rest: that must be long enough for a PUT. */
    @Test
    void shouldCountThePublishedForms() throws IOException {
        int code = execute(
                "--fabric",
                "--protocol",
                "paper",
                "--designs",
                "nessie",
                "--nodes",
                "0",
                "--pairs",
                "768",
                "--operations",
                "500",
                "--sizes",
                "32",
                "--out",
                directory.toString());
        assertEquals(ExitCode.OK, code, err::toString);
    }

    /** What is near and far is exact, whatever the number of pairs: near is what the worker has put. */
    private static void requireNodes(JsonNode nodes) {
        Set<String> blocks = new HashSet<>(nodes.findValuesAsText("block"));
        assertEquals(Set.of("LOCALITY", "FILTER", "CACHE"), blocks);
        double before = Double.MAX_VALUE;
        for (JsonNode row : nodes) {
            assertTrue(row.get("operations").asLong() >= 190, row::toString);
            assertEquals(0, row.get("errors").size(), row::toString);
            if (row.get("block").asText().equals("LOCALITY")) {
                double far = row.get("counts").get("farReads").asDouble();
                assertTrue(far < before, row::toString);
                before = far;
            }
        }
    }

    /** In a process of its own, which a study binds to a core. */
    private JsonNode study(String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("compare", "--out", directory.toString()));
        all.addAll(List.of(arguments));
        String ignored = OwnStudy.run(all, directory.resolve("output"));
        assertTrue(Files.readString(directory.resolve("report.html")).contains("echarts.init"));
        return new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    }

    @Test
    @Tag("slow")
    void shouldCompareWhateverIsInstalled() throws IOException, InterruptedException {
        JsonNode results = study(
                "--rounds",
                Integer.toString(ROUNDS),
                "--seconds",
                "0.05",
                "--pairs",
                "300",
                "--sizes",
                SHORT ? "32" : "32,100",
                "--window",
                SHORT ? "4" : "1,4",
                "--mixes",
                SHORT ? "A" : "C,A",
                "--connections",
                "2");
        assertEquals(0, results.get("errors").asLong(), results::toString);
        Set<String> systems = new HashSet<>(results.get("rows").findValuesAsText("system"));
        for (StoreDesign design : StoreDesigns.all()) {
            assertTrue(
                    systems.contains(design.name()) || results.get("skipped").has(design.name()),
                    results.get("skipped")::toString);
        }
        assertTrue(
                systems.containsAll(Set.of("pilaf", "pilaf-vo", "farm", "kv", "kv-chunk", "kv-tcp")),
                systems::toString);
        for (JsonNode row : results.get("rows")) {
            assertTrue(row.get("operations").asLong() > 0, row::toString);
            assertTrue(row.get("values").get("operationsPerSecond").asDouble() > 0, row::toString);
            assertEquals(ROUNDS, row.get("rounds").size());
            if (row.get("kind").asText().equals("DESIGN")) {
                assertEquals(300, row.get("memory").get("pairs").asLong(), row::toString);
            }
        }
        assertTrue(results.get("rows").findValuesAsText("server").contains("SPINNING"));
    }
}
