package org.softrdma.cli.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine;

class KvCommandTest {
    private final VerbsDevice device = new SoftRdmaProvider().open(Map.of());
    private final KvServer server = KvServer.start(
            device,
            new KvServerContext()
                    .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .threads(1)
                    .version("test")
                    .conclude());

    @TempDir
    private Path files = Path.of("");

    private final StringWriter err = new StringWriter();

    @AfterEach
    void stop() {
        server.close();
        device.close();
    }

    @Test
    void shouldSetGetAndDelete() {
        assertEquals(ExitCode.OK, kv("set", "key", "value"));
        assertEquals("value", output(() -> assertEquals(ExitCode.OK, kv("get", "key"))));
        assertEquals(ExitCode.OK, kv("delete", "key"));
        assertEquals(ExitCode.FAILED, kv("delete", "key"));
        assertEquals("key: not found", err.toString().strip());
        assertEquals("", output(() -> assertEquals(ExitCode.FAILED, kv("get", "key"))));
    }

    @Test
    void shouldTakeAndGiveAnyBytes() throws IOException {
        byte[] value = new byte[100_000];
        new Random(1).nextBytes(value);
        Path in = Files.write(files.resolve("in"), value);
        Path out = files.resolve("out");
        assertEquals(ExitCode.OK, kv("set", "key", "--input", in.toString(), "--flags", "4294967295"));
        assertEquals(ExitCode.OK, kv("get", "key", "--output", out.toString()));
        assertArrayEquals(value, Files.readAllBytes(out));
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(value));
        try {
            assertEquals(ExitCode.OK, kv("set", "other", "-"));
        } finally {
            System.setIn(before);
        }
        assertEquals(ExitCode.OK, kv("get", "other", "-o", out.toString(), "--plain"));
        assertArrayEquals(value, Files.readAllBytes(out));
        String lines = output(() -> assertEquals(ExitCode.FAILED, kv("gets", "key", "nokey", "other")));
        assertTrue(lines.startsWith("key 4294967295 100000 "), lines);
        assertEquals("nokey: not found", err.toString().strip());
        assertEquals(
                ExitCode.USAGE,
                kv("set", "key", "--input", files.resolve("none").toString()));
        assertEquals(ExitCode.USAGE, kv("set", "key", "value", "--input", in.toString()));
        assertEquals(ExitCode.USAGE, kv("get", "key", "-o", files.toString()));
    }

    @Test
    void shouldSayHowGetWasServed() {
        kv("set", "key", "value");
        assertEquals("valuevalue", output(() -> {
            assertEquals(ExitCode.OK, kv("get", "key", "--repeat", "2", "-v"));
            assertEquals(ExitCode.OK, kv("get", "key", "--plain", "-v"));
        }));
        List<String> said = err.toString().lines().toList();
        assertEquals(
                List.of(
                        "key: served by rget: the server wrote it into this client's memory",
                        "key: served by READ",
                        "key: served over TCP"),
                said);
    }

    @Test
    void shouldNotSayThatAMissingKeyWasServed() {
        assertEquals(ExitCode.FAILED, kv("get", "nothing", "--repeat", "2", "-v"));
        assertEquals(List.of("nothing: not found"), err.toString().lines().toList());
    }

    @Test
    void shouldAskServerAboutItself() {
        assertEquals(
                "test", output(() -> assertEquals(ExitCode.OK, kv("version"))).strip());
        String statistics = output(() -> assertEquals(ExitCode.OK, kv("stats")));
        assertTrue(statistics.contains("version test" + System.lineSeparator()), statistics);
        assertTrue(output(() -> kv("stats", "rdma", "--plain")).contains("queue_pairs"));
        assertEquals(ExitCode.FAILED, kv("stats", "nothing"));
        assertTrue(err.toString().startsWith("softrdma kv stats: "), err::toString);
    }

    @Test
    void shouldDoEveryCommandAtStockMemcached() throws Exception {
        boolean installed = Arrays.stream(System.getenv("PATH").split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, "memcached")));
        Assumptions.assumeTrue(installed, "memcached is not installed; ./ci/install installs it");
        Path ports = files.resolve("ports"); // there as a whole, once it listens: "TCP INET: 12345"
        ProcessBuilder command = new ProcessBuilder(
                "memcached", "-l", "127.0.0.1", "-p", "-1", "-U", "0", "-u", System.getProperty("user.name"));
        command.environment().put("MEMCACHED_PORT_FILENAME", ports.toString());
        Process memcached = command.inheritIO().start();
        try {
            long deadlineNs = System.nanoTime() + 30_000_000_000L;
            while (!Files.exists(ports)) {
                assertTrue(memcached.isAlive() && System.nanoTime() < deadlineNs, "memcached does not start");
                LockSupport.parkNanos(1_000_000);
            }
            String line = Files.readAllLines(ports).getFirst();
            int port = Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
            assertEquals(ExitCode.FAILED, at(port, "replace", "key", "x"));
            assertEquals(ExitCode.OK, at(port, "add", "key", "b"));
            assertEquals(ExitCode.FAILED, at(port, "add", "key", "x"));
            assertEquals(ExitCode.OK, at(port, "append", "key", "c"));
            assertEquals(ExitCode.OK, at(port, "prepend", "key", "a"));
            assertEquals("abc", output(() -> at(port, "get", "key")));
            String cas = output(() -> at(port, "gets", "key")).strip().split(" ", -1)[3];
            assertEquals(ExitCode.OK, at(port, "cas", "key", "10", "--cas", cas));
            assertEquals(ExitCode.FAILED, at(port, "cas", "key", "11", "--cas", cas));
            assertEquals(ExitCode.USAGE, at(port, "cas", "key", "11", "--cas", "-1"));
            assertEquals("15", output(() -> at(port, "incr", "key", "5")).strip());
            assertEquals("14", output(() -> at(port, "decr", "key")).strip());
            assertEquals(ExitCode.FAILED, at(port, "incr", "nokey"));
            assertEquals(ExitCode.OK, at(port, "touch", "key", "100"));
            assertEquals(ExitCode.FAILED, at(port, "touch", "nokey", "100"));
            assertEquals(ExitCode.OK, at(port, "flush"));
            assertEquals(ExitCode.FAILED, at(port, "get", "key"));
            assertEquals(
                    List.of(
                            "key: not stored",
                            "key: not stored",
                            "key: not stored: the value has changed since",
                            "softrdma kv cas: --cas -1: expected 0 to 18446744073709551615",
                            "Try 'softrdma kv cas --help'.",
                            "nokey: not found",
                            "nokey: not found",
                            "key: not found"),
                    err.toString().lines().toList());
        } finally {
            memcached.destroyForcibly().waitFor();
        }
    }

    private int at(int port, String... arguments) {
        List<String> all = new ArrayList<>(List.of("kv"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("-s", "127.0.0.1:" + port, "--timeout", "10"));
        return execute(all.toArray(String[]::new));
    }

    @Test
    void shouldRefuseBadNumbers() {
        assertEquals(ExitCode.USAGE, kv("set", "key", "value", "--flags", "-1"));
        assertEquals(ExitCode.USAGE, kv("get", "key", "--timeout", "0"));
        assertEquals(ExitCode.USAGE, kv("incr", "key", "x"));
        assertEquals(ExitCode.USAGE, kv("touch", "key"));
    }

    @Test
    void shouldSayWhenServerCannotTakeValue() {
        assertEquals(ExitCode.FAILED, kv("set", "key", "v".repeat(1 << 20)));
        assertTrue(err.toString().contains("larger than the server accepts"), err::toString);
    }

    @Test
    void shouldSayWhenKeyIsBad() {
        assertEquals(ExitCode.USAGE, kv("get", "k".repeat(251)));
        assertTrue(err.toString().contains("key of 251 bytes"), err::toString);
    }

    @Test
    void shouldSayWhenThereIsNoServer() {
        assertEquals(ExitCode.FAILED, execute("kv", "get", "key", "--server", "127.0.0.1:1"));
        assertTrue(err.toString().startsWith("softrdma kv get: cannot connect to 127.0.0.1:1"), err::toString);
        assertEquals(ExitCode.USAGE, execute("kv", "get", "key", "--server", "127.0.0.1:x"));
        assertEquals(ExitCode.USAGE, execute("kv", "get", "key", "--server", "no such host"));
    }

    @Test
    void shouldNameEveryBadSettingOfServer() {
        assertEquals(ExitCode.USAGE, execute("server", "-t", "0", "-I", "100", "-m", "0"));
        assertTrue(err.toString().contains("-t 0: expected 1 to 1024"), err::toString);
        assertTrue(err.toString().contains("-I 100: expected 1k to 15m"), err::toString);
        assertTrue(err.toString().contains("-m 0: expected 2 to "), err::toString);
        assertEquals(ExitCode.USAGE, execute("server", "-I", "foo"));
        assertTrue(err.toString().contains("-I foo"), err::toString);
    }

    @Test
    void shouldSayWhenPortOfServerIsTaken() {
        String port = Integer.toString(server.memcachedAddress().getPort());
        assertEquals(ExitCode.USAGE, execute("server", "-l", "127.0.0.1", "-p", port));
        assertTrue(
                err.toString().contains("cannot listen on 127.0.0.1:" + port + ": the port is in use"), err::toString);
    }

    @Test
    void shouldSpreadKeysOverSeveralServers() {
        try (KvServer second = KvServer.start(
                device,
                new KvServerContext()
                        .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .threads(1)
                        .version("test")
                        .conclude())) {
            String one = "127.0.0.1:" + server.memcachedAddress().getPort();
            String other = "127.0.0.1:" + second.memcachedAddress().getPort();
            String[] both = {"--servers", one + "," + other + ":3"};
            List<String> keys = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                keys.add("key" + i);
                assertEquals(ExitCode.OK, kvOf(both, "set", "key" + i, "value" + i));
            }
            String got = output(() -> assertEquals(ExitCode.OK, kvOf(both, "get", "key7")));
            assertEquals("value7", got);
            String all = output(() -> assertEquals(
                    ExitCode.OK,
                    kvOf(both, Stream.concat(Stream.of("gets"), keys.stream()).toArray(String[]::new))));
            assertEquals(20, all.lines().count());
            String versions = output(() -> assertEquals(ExitCode.OK, kvOf(both, "version")));
            assertEquals(
                    List.of(one + ":", "test", other + ":", "test"),
                    versions.lines().toList());
            for (String alone : List.of(one, other)) {
                String items = output(() -> assertEquals(ExitCode.OK, execute("kv", "stats", "--server", alone)))
                        .lines()
                        .filter(line -> line.startsWith("curr_items "))
                        .findFirst()
                        .orElseThrow();
                assertTrue(!items.equals("curr_items 0") && !items.equals("curr_items 20"), alone + ": " + items);
            }
        }
        assertEquals(ExitCode.USAGE, execute("kv", "get", "--servers", "a:0", "key"));
        assertTrue(
                err.toString().contains("server \"a:0\": expected HOST, HOST:PORT or HOST:PORT:WEIGHT"), err::toString);
        assertEquals(ExitCode.USAGE, execute("kv", "get", "--servers", "a", "--server", "b", "key"));
        assertTrue(err.toString().contains("--server and --servers: expected only one of them"), err::toString);
    }

    /** A server that is down is named, and those behind it are asked all the same. */
    @Test
    void shouldAskAllServersThoughOneIsDown() {
        String up = "127.0.0.1:" + server.memcachedAddress().getPort();
        String[] two = {"--servers", "127.0.0.1:1," + up};
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            keys.add("key" + i);
            kv("set", "key" + i, "value");
        }
        String gets = output(() -> assertEquals(
                ExitCode.FAILED,
                kvOf(two, Stream.concat(Stream.of("gets"), keys.stream()).toArray(String[]::new))));
        assertTrue(gets.lines().count() > 0 && gets.lines().count() < 20, gets);
        for (String command : List.of("stats", "version", "flush")) {
            String said = output(() -> assertEquals(ExitCode.FAILED, kvOf(two, command)));
            assertTrue(said.startsWith("127.0.0.1:1:" + System.lineSeparator() + up + ":"), said);
        }
        assertEquals(
                4,
                err.toString()
                        .lines()
                        .filter(line -> line.contains(": cannot connect to 127.0.0.1:1: "))
                        .count(),
                err::toString);
        assertEquals(ExitCode.FAILED, kv("get", "key7"));
    }

    private int kvOf(String[] servers, String... arguments) {
        return execute(Stream.of(new String[] {"kv"}, arguments, servers)
                .flatMap(Arrays::stream)
                .toArray(String[]::new));
    }

    private int kv(String... arguments) {
        List<String> all = new ArrayList<>(List.of("kv"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--server", "127.0.0.1:" + server.memcachedAddress().getPort()));
        return execute(all.toArray(String[]::new));
    }

    private int execute(String... arguments) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }

    /** What is written to the standard output meanwhile. */
    private static String output(Runnable work) {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
