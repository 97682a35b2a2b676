package org.softrdma.cli.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.bench.machine.ShapedLink;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine;

class WimpyCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        List<String> all = new ArrayList<>(List.of("wimpy"));
        all.addAll(List.of(arguments));
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err, true));
        commandLine.setOut(new PrintWriter(err, true));
        return commandLine.execute(all.toArray(String[]::new));
    }

    private String firstLine() {
        return err.toString().lines().findFirst().orElse("");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --sizes=1X              | --sizes: '1X' is not a size
            --sizes=0               | --sizes 0: expected 1 to 921600
            --sizes=9G              | --sizes 9G: expected 1 to 900K
            --window=0              | --window 0: expected 1 to 512
            --windows=16,16         | --window [16, 16]: duplicate value
            --clients=0             | --clients 0: expected 1 to 512
            --throttle=0            | --throttle 0: expected 1 to 100
            --rounds=0              | --rounds 0: expected 1 to 100
            --throttle=half         | --throttle half: expected a whole number
            --provider=none         | --provider none: unknown
            --connect=host:99999    | --connect host:99999: expected HOST or HOST:PORT
            --connect=host:x        | --connect host:x: expected HOST or HOST:PORT
            --connect-memcached=a   | --connect-memcached needs --connect
            --link=fast             | --link fast: expected a rate in bit/s such as 500M or 10G
            --link=0M               | --link 0: expected 1 to 400000
            --link=1G,1000M         | --link [1000, 1000]: duplicate value
            --beside=missing.jar    | --beside missing.jar: expected the jar of another build
            """)
    void shouldRefuseInOneLine(String option, String message) {
        assertEquals(ExitCode.USAGE, execute(option, "--out", directory.toString()));
        assertTrue(firstLine().startsWith("softrdma wimpy: " + message), err::toString);
    }

    @Test
    void shouldRefuseToMeasureAnotherBuildBesideAServerThatRunsAlready() {
        assertEquals(ExitCode.USAGE, execute("--beside", "missing.jar", "--connect", "127.0.0.1:1"));
        assertTrue(firstLine().startsWith("softrdma wimpy: --beside starts a server"), err::toString);
    }

    @Test
    void shouldRefuseALinkToAServerThatRunsAlready() {
        assertEquals(ExitCode.USAGE, execute("--link", "1G", "--connect", "127.0.0.1:1"));
        assertTrue(firstLine().startsWith("softrdma wimpy: --link puts servers"), err::toString);
    }

    @Test
    void shouldRefuseQuickAndFullTogether() {
        assertEquals(ExitCode.USAGE, execute("--quick", "--full"));
        assertEquals("softrdma wimpy: --quick and --full are mutually exclusive: choose one", firstLine());
    }

    @Test
    void shouldRefuseUnwritableDirectoryBeforeMeasuring() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "in the way");
        assertEquals(ExitCode.USAGE, execute("--out", file.resolve("results").toString()));
        assertTrue(firstLine().startsWith("softrdma wimpy: --out " + file), err::toString);
        assertEquals(1, err.toString().lines().count(), err::toString);
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.USAGE, execute("--out", file.toString()));
        assertEquals(
                "softrdma wimpy: --out " + file + ": expected a directory, found a file",
                err.toString().strip());
    }

    @Test
    void shouldSayWhenThereIsNoServerToConnectTo() {
        assertEquals(ExitCode.FAILED, execute("--connect", "127.0.0.1:1", "--out", directory.toString()));
        assertTrue(firstLine().startsWith("softrdma wimpy: cannot connect to 127.0.0.1:1"), err::toString);
        assertEquals(1, err.toString().lines().count(), err::toString);
    }

    /** In a process of its own, which a study binds to a core. */
    private JsonNode study(String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("wimpy", "--quick", "--pairs", "20", "--out", directory.toString()));
        all.addAll(List.of(arguments));
        String ignored = OwnStudy.run(all, directory.resolve("output"));
        assertTrue(Files.readString(directory.resolve("report.html")).contains("echarts.init"));
        return new ObjectMapper().readTree(directory.resolve("results.json").toFile());
    }

    private static void requireNoErrors(JsonNode results) {
        for (JsonNode row : results.get("results")) {
            assertEquals(0, row.get("errors").asLong(), row::toString);
            assertTrue(row.get("getsPerSecond").asDouble() > 0, row::toString);
            if (row.get("protocol").asText().startsWith("READ ")) {
                assertTrue(row.get("oneSidedFraction").asDouble() > 0.95, row::toString);
                assertTrue(row.get("oneSidedFraction").asDouble() < 1.05, row::toString);
            }
        }
    }

    @Test
    @Tag("slow")
    @DisabledIfSystemProperty(named = "softrdma.slow.short", matches = "true", disabledReason = "ci/slow.d/05-main-job")
    void shouldMeasureWhateverIsInstalled() throws IOException, InterruptedException {
        JsonNode results = study("--sizes", "100", "--window", "1,4", "--clients", "2");
        requireNoErrors(results);
        List<String> protocols = new ArrayList<>();
        results.get("results").forEach(row -> protocols.add(row.get("protocol").asText()));
        assertTrue(protocols.contains("READ arena"), protocols::toString);
        // Each system of the study is there, or has a reason not to be.
        results.get("skipped")
                .forEach(left -> assertTrue(left.get("reason").asText().length() > 10, left::toString));
        int systems = (int) results.get("results").findValuesAsText("system").stream()
                .distinct()
                .count();
        assertTrue(systems + results.get("skipped").size() >= 4, results::toString);
    }

    /** Bytes of values that a link carries in a second, whatever else this machine does. */
    @Test
    @Tag("slow")
    void shouldMeasureOverALinkOfItsRate() throws IOException, InterruptedException {
        int megabits = 200;
        ShapedLink.Found found = ShapedLink.find(megabits);
        found.link().ifPresent(ShapedLink::close);
        assumeTrue(found.link().isPresent(), found.problem());
        JsonNode results = study(
                "--sizes", "10K", "--window", "4", "--rounds", "1", "--link", megabits + "M", "--throttle", "100");
        requireNoErrors(results);
        List<JsonNode> overLink = new ArrayList<>();
        results.get("results").forEach(row -> {
            if (row.get("linkMegabits").asInt() == megabits) {
                overLink.add(row);
            }
        });
        assertEquals(2, overLink.size(), overLink::toString);
        double mostGets = megabits * 1e6 / 8 / 10_240;
        // The bucket of 128 KiB may be full when the round of 400 ms begins.
        double burst = 1.05;
        for (JsonNode row : overLink) {
            assertTrue(row.get("getsPerSecond").asDouble() < burst * mostGets, row::toString);
        }
    }

    @Test
    @Tag("slow")
    void shouldLoadAServerThatRunsAlready() throws IOException, InterruptedException {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                KvServer server = KvServer.start(
                        device,
                        new KvServerContext()
                                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                                .threads(1)
                                .version("test")
                                .conclude())) {
            String port = Integer.toString(server.memcachedAddress().getPort());
            JsonNode results = study("--sizes", "100", "--window", "4", "--connect", "127.0.0.1:" + port);
            requireNoErrors(results);
            assertEquals(2, results.get("results").size());
            assertTrue(results.get("skipped").findValuesAsText("system").contains("memcached"), results::toString);
        }
    }
}
