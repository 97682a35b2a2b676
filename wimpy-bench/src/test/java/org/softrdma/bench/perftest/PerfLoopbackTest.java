package org.softrdma.bench.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.CatalogReader;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ReadResponder;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** Both ends of every test in one JVM, over the software RNIC and the loopback address. */
class PerfLoopbackTest {
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Pattern PORT = Pattern.compile("listening on .*:(\\d+),");
    private static final long SECONDS = 40;

    private final BlockingQueue<String> serverSaid = new LinkedBlockingQueue<>();
    private final StringWriter printed = new StringWriter();

    private static VerbsDevice open(String progress) {
        return VerbsProviders.named("sim").open(Map.of("progress", progress));
    }

    private static PerfOptions options(PerfTest test, boolean events, boolean bidirectional, int queuePairs) {
        return options(test, events, bidirectional, queuePairs, 1);
    }

    private static PerfOptions options(
            PerfTest test, boolean events, boolean bidirectional, int queuePairs, int initiators) {
        return new PerfOptions(
                test,
                test.opcode().isAtomic() ? List.of(8L) : List.of(2L, 5000L, 100_000L),
                300,
                0,
                queuePairs,
                16,
                0,
                0,
                events,
                test.isLatency() ? 1 : 8,
                20,
                bidirectional,
                initiators % 2 == 0 && test.opcode().isAtomic(),
                initiators);
    }

    private static void assumeFeature(PerfTest test) {
        try (VerbsDevice device = open("manual")) {
            test.feature()
                    .ifPresent(needed ->
                            assumeTrue(device.capabilities().has(needed), () -> device.name() + " has no " + needed));
        }
    }

    private CompletableFuture<Void> serve(PerfTest test, String progress) {
        serverSaid.clear();
        return start(() -> {
            try (VerbsDevice device = open(progress)) {
                new PerfServer(device, test, null, lines()).serve(ANYWHERE, false);
            }
        });
    }

    /** On a thread of its own: a pool may be as small as one, and a device in manual progress keeps its thread. */
    private static CompletableFuture<Void> start(Runnable end) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("other end").start(() -> {
            try {
                end.run();
                result.complete(null);
            } catch (RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private PrintWriter lines() {
        return new PrintWriter(
                new Writer() {
                    private final StringBuilder line = new StringBuilder();

                    @Override
                    public void write(char[] characters, int offset, int length) {
                        for (int i = offset; i < offset + length; i++) {
                            if (characters[i] == '\n') {
                                serverSaid.add(line.toString());
                                line.setLength(0);
                            } else {
                                line.append(characters[i]);
                            }
                        }
                    }

                    @Override
                    public void flush() {}

                    @Override
                    public void close() {}
                },
                true);
    }

    private InetSocketAddress server() throws InterruptedException {
        String line = serverSaid.poll(SECONDS, TimeUnit.SECONDS);
        Matcher matcher = PORT.matcher(String.valueOf(line));
        assertTrue(matcher.find(), "the server said " + line);
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(matcher.group(1)));
    }

    private List<PerfRow> run(PerfOptions options, String serverProgress, String clientProgress) throws Exception {
        CompletableFuture<Void> server = serve(options.test(), serverProgress);
        PerfTable table = new PerfTable(new PrintWriter(printed, true), options, false, false, false);
        List<PerfRow> rows;
        try (VerbsDevice device = open(clientProgress)) {
            rows = PerfClient.run(device, () -> open(clientProgress), options, table, server());
        }
        server.get(SECONDS, TimeUnit.SECONDS);
        return rows;
    }

    private static List<PerfRow> run(
            VerbsDevice device, PerfOptions options, PerfTable table, InetSocketAddress server) {
        return PerfClient.run(
                device,
                () -> {
                    throw new AssertionError("one initiator needs one device");
                },
                options,
                table,
                server);
    }

    /** Nobody listens at the address: it is not looked at. */
    @Test
    void shouldRefuseWhatTheDeviceCannotDoBeforeItConnects() {
        PerfOptions options =
                new PerfOptions(PerfTest.SEND_LATENCY, List.of(1L << 40), 300, 0, 1, 16, 0, 5000, false, 1, 20, false);
        PerfTable table = new PerfTable(new PrintWriter(printed, true), options, false, false, false);
        try (VerbsDevice device = open("manual")) {
            MeasurementException refused =
                    assertThrows(MeasurementException.class, () -> run(device, options, table, ANYWHERE));

            assertEquals(
                    "-I 5000: this device takes at most 1024 bytes inline; "
                            + "-s 1099511627776: this device takes messages of at most 2147483648 bytes",
                    refused.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRunEveryTest(PerfTest test) throws Exception {
        assumeFeature(test);
        PerfOptions options = options(test, false, false, 1);
        List<PerfRow> rows = run(options, "engine", "manual");

        assertEquals(options.sizes().size(), rows.size());
        for (PerfRow row : rows) {
            assertEquals(300, row.iterations());
            assertTrue(row.value(test.isLatency() ? "t_typical" : "BW_average") > 0);
            assertTrue(row.server().processNs() > 0);
        }
        assertTrue(printed.toString().contains("server CPU per operation"), printed.toString());
    }

    @ParameterizedTest
    @CsvSource({"manual,manual", "manual,engine", "engine,engine"})
    void shouldRunInEveryProgressWithEvents(String server, String client) throws Exception {
        assertEquals(
                3,
                run(options(PerfTest.SEND_LATENCY, true, false, 1), server, client)
                        .size());
        assertEquals(
                3,
                run(options(PerfTest.READ_BANDWIDTH, true, false, 1), server, client)
                        .size());
    }

    @ParameterizedTest
    @EnumSource(names = {"READ_BANDWIDTH", "WRITE_BANDWIDTH", "SEND_BANDWIDTH"})
    void shouldUseManyQueuePairs(PerfTest test) throws Exception {
        List<PerfRow> rows = run(options(test, false, false, 5), "engine", "manual");

        assertEquals(1500, rows.getFirst().iterations());
    }

    @ParameterizedTest
    @CsvSource({"manual,manual", "manual,engine", "engine,engine"})
    void shouldEchoInEveryProgress(String server, String client) throws Exception {
        PerfOptions options = new PerfOptions(
                PerfTest.ECHO, List.of(1L, 7L, 8L, 13L, 1000L), 300, 0, 1, 16, 0, 16, false, 1, 1, false);

        List<PerfRow> rows = run(options, server, client);

        assertEquals(5, rows.size());
        assertTrue(printed.toString().contains("RDMA_Write Latency Test"), printed.toString());
    }

    @ParameterizedTest
    @CsvSource({"READ_LATENCY,2", "READ_BANDWIDTH,2", "WRITE_BANDWIDTH,3", "ATOMIC_LATENCY,2", "ATOMIC_BANDWIDTH,3"})
    void shouldRunSeveralInitiators(PerfTest test, int initiators) throws Exception {
        assumeFeature(test);

        List<PerfRow> rows = run(options(test, false, false, 1, initiators), "engine", "manual");

        assertEquals(300L * initiators, rows.getFirst().iterations());
        assertEquals(300L * initiators, rows.getFirst().server().operations());
        assertTrue(printed.toString().contains(" Initiators      : " + initiators), printed.toString());
    }

    @ParameterizedTest
    @EnumSource(names = {"READ_BANDWIDTH", "WRITE_BANDWIDTH"})
    void shouldRunInBothDirections(PerfTest test) throws Exception {
        List<PerfRow> rows = run(options(test, false, true, 2), "engine", "engine");

        assertEquals(1200, rows.getFirst().server().operations());
    }

    @ParameterizedTest
    @EnumSource(names = {"READ_LATENCY", "WRITE_BANDWIDTH"})
    void shouldRunForATime(PerfTest test) throws Exception {
        PerfOptions options = new PerfOptions(test, List.of(64L), 5, 1, 1, 16, 0, 0, false, 1, 0, false);

        assertTrue(run(options, "engine", "manual").getFirst().iterations() > 5);
    }

    @Test
    void shouldRefuseAClientOfAnotherTest() throws Exception {
        CompletableFuture<Void> server = serve(PerfTest.READ_LATENCY, "engine");
        PerfOptions options = options(PerfTest.WRITE_BANDWIDTH, false, false, 1);
        PerfTable table = new PerfTable(new PrintWriter(printed, true), options, false, false, false);
        InetSocketAddress address = server();
        try (VerbsDevice device = open("manual")) {
            MeasurementException refused =
                    assertThrows(MeasurementException.class, () -> run(device, options, table, address));
            assertTrue(refused.toString().contains("runs read-lat, the client asked for write-bw"), refused.toString());
        }
        assertThrows(Exception.class, () -> server.get(SECONDS, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @CsvSource({"engine,0", "engine,100", "manual,0"})
    void shouldVerifyWhatAResponderServes(String progress, int slices) throws Exception {
        PipedOutputStream toResponder = new PipedOutputStream();
        PipedInputStream commands = new PipedInputStream(toResponder);
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        CompletableFuture<Boolean> ready = new CompletableFuture<>();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                super.println(line);
                if (line.equals("READY")) {
                    ready.complete(true);
                }
            }
        };
        CompletableFuture<Void> responder = start(() -> {
            try (VerbsDevice device = open(progress)) {
                ReadResponder.run(
                        device,
                        new ReadResponder.Settings(
                                ANYWHERE, 25_600, slices == 0 ? List.of() : List.of(slices), 1000, false, false),
                        commands,
                        out);
            }
        });
        CompletableFuture.anyOf(ready, responder).get(SECONDS, TimeUnit.SECONDS);
        load(said.toString(StandardCharsets.UTF_8), slices);
        close(toResponder);
        responder.get(SECONDS, TimeUnit.SECONDS);
    }

    private static void load(String said, int slices) {
        Map<String, String[]> lines = new java.util.HashMap<>();
        said.lines().map(line -> line.split(" ", -1)).forEach(words -> lines.put(words[0], words));
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words(lines, "LISTENING")[1]));
        long base = Long.parseLong(words(lines, "MEMORY")[1]);
        try (VerbsDevice device = open("manual")) {
            ReadTargets targets = ReadTargets.ofRegion(base, 25_600, Integer.parseInt(words(lines, "MEMORY")[3]), 1000);
            if (slices > 0) {
                String[] catalog = words(lines, "CATALOG");
                int[] rkeys = CatalogReader.read(
                        device,
                        address,
                        new org.softrdma.verbs.RemoteRegion(
                                Long.parseLong(catalog[1]), Long.parseLong(catalog[2]), Integer.parseInt(catalog[3])));
                targets = ReadTargets.ofSlices(base, rkeys, slices, 256);
            }
            try (ReadLoad load = ReadLoad.connect(device, address, 3, 4, 1000, targets)) {
                RequestLoad.Outcome outcome = load.run(4, 1000, TimeUnit.MILLISECONDS.toNanos(200));
                assertTrue(outcome.verified() > 0);
                assertTrue(outcome.requests() >= 3 * 4, "as many as the windows hold");
                assertTrue(load.latency(100, TimeUnit.MILLISECONDS.toNanos(50), true)
                                .getTotalCount()
                        > 0);
                assertTrue(load.latency(100, TimeUnit.MILLISECONDS.toNanos(50), false)
                                .getTotalCount()
                        > 0);
            }
        }
    }

    private static String[] words(Map<String, String[]> lines, String first) {
        return lines.getOrDefault(first, new String[0]);
    }

    private static void close(PipedOutputStream stream) throws IOException {
        stream.close();
    }
}
