package org.softrdma.bench.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.GetLoad;
import org.softrdma.bench.workload.LoadOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.PipelinedGetLoad;
import org.softrdma.bench.workload.ReadGetLoad;
import org.softrdma.bench.workload.TcpCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

class GetLoadTest {
    private static final long DURATION_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int PAIRS = 50;

    /** Of two keys, drawn at random so often, both come. */
    private static final int MANY = 200;

    /** Takes a second to make. */
    private static @Nullable ServerCertificate ours;

    private final VerbsDevice serverDevice = new SoftRdmaProvider().open(Map.of());
    private final KvServer server = KvServer.start(serverDevice, context().conclude());

    private static KvServerContext context() {
        return new KvServerContext()
                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .threads(1)
                .version("test");
    }

    @BeforeAll
    static void makeCertificate() {
        ours = ServerCertificate.generate();
    }

    @AfterAll
    static void deleteCertificate() {
        CloseHelper.close(ours);
    }

    @AfterEach
    void stop() {
        server.close();
        serverDevice.close();
    }

    /** {@link #MANY}, as fast as answers come: in a given time a busy machine may do so few that all are of one key. */
    private static Arrivals many() {
        return Arrivals.open(1e9, MANY);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1024, 1", "1024, 16", "100000, 1", "100000, 16"})
    void shouldGetRightValuesByReadAndOverTcp(int valueLength, int window) {
        MixPairs pairs = MixPairs.keyedByLength(PAIRS, valueLength);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads = new ReadGetLoad(
                        device, server.memcachedAddress(), new ReadGetLoad.Limits(3, window, valueLength, PAIRS));
                PipelinedGetLoad gets =
                        new PipelinedGetLoad(server.memcachedAddress(), TcpCommands.CLASSIC, 3, window)) {
            reads.insert(pairs);
            reads.learn(pairs);
            long before = device.counters().getOrDefault("sentSegments.readRequest", 0L);
            awaitReads(before);
            LoadOutcome byRead = reads.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, byRead.errors());
            assertTrue(byRead.gets() >= 3L * window);
            assertEquals(byRead.gets(), byRead.latencies().getTotalCount());
            awaitReads(before + byRead.gets());
            LoadOutcome overTcp = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, overTcp.errors());
            assertTrue(overTcp.gets() >= 3L * window);
            assertEquals(overTcp.gets(), overTcp.latencies().getTotalCount());
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 3", "4, 1", "16, 3"})
    void shouldGetManyKeysByOneRequest(int window, int connections) {
        MixPairs pairs = MixPairs.keyedByLength(PAIRS, 1000);
        try (MemcachedAdmin admin = new MemcachedAdmin(server.memcachedAddress());
                PipelinedGetLoad gets =
                        new PipelinedGetLoad(server.memcachedAddress(), TcpCommands.MULTI_KEY, connections, window)) {
            admin.insert(pairs);
            LoadOutcome outcome = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, outcome.errors());
            assertTrue(outcome.gets() >= (long) connections * window);
            assertEquals(0, outcome.gets() % window);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1024, 16", "100000, 16"})
    void shouldGetRightValuesInFrames(int valueLength, int window) {
        MixPairs pairs = MixPairs.keyedByLength(PAIRS, valueLength);
        try (MemcachedAdmin admin = new MemcachedAdmin(server.memcachedAddress());
                PipelinedGetLoad gets =
                        new PipelinedGetLoad(server.memcachedAddress(), TcpCommands.BINARY, 3, window)) {
            admin.insert(pairs);
            LoadOutcome outcome = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, outcome.errors());
            assertTrue(outcome.gets() >= 3L * window);
        }
    }

    @Test
    void shouldRefuseAnErrorInAFrame() throws IOException {
        MixPairs pairs = MixPairs.keyedByLength(1, 100);
        // Status 0x85, "busy", and a body of no bytes.
        String busy = "\u0081\u000c\0\0\0\0\0\u0085" + "\0".repeat(16);
        int asked = 24 + pairs.key(0).length;
        try (ScriptedServer wrong = new ScriptedServer(request -> request.length() == asked ? busy : null);
                PipelinedGetLoad gets = new PipelinedGetLoad(wrong.address(), TcpCommands.BINARY, 1, 1)) {
            MeasurementException refusal =
                    assertThrows(MeasurementException.class, () -> gets.run(pairs, 1, Arrivals.closed(DURATION_NS)));
            assertTrue(String.valueOf(refusal.getMessage()).contains("status 133"), refusal.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1024, 16", "100000, 16"})
    void shouldGetRightValuesInTls(int valueLength, int window) {
        MixPairs pairs = MixPairs.keyedByLength(PAIRS, valueLength);
        ServerCertificate certificate = Objects.requireNonNull(ours);
        try (KvServer inTls = KvServer.start(
                        serverDevice,
                        context()
                                .tls(TlsSettings.of(certificate.chain(), certificate.key()))
                                .conclude());
                MemcachedAdmin admin = new MemcachedAdmin(inTls.memcachedAddress(), certificate);
                PipelinedGetLoad gets = new PipelinedGetLoad(
                        inTls.memcachedAddress(), TcpCommands.META, 3, window, certificate.clients())) {
            admin.insert(pairs);
            LoadOutcome outcome = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, outcome.errors());
            assertTrue(outcome.gets() >= 3L * window);
        }
    }

    @Test
    void shouldTrustOneCertificateOnly() {
        ServerCertificate shown = Objects.requireNonNull(ours);
        try (ServerCertificate known = ServerCertificate.generate();
                KvServer inTls = KvServer.start(
                        serverDevice,
                        context()
                                .tls(TlsSettings.of(shown.chain(), shown.key()))
                                .conclude())) {
            assertThrows(
                    MeasurementException.class,
                    () -> new PipelinedGetLoad(inTls.memcachedAddress(), TcpCommands.META, 1, 1, known.clients())
                            .close());
        }
    }

    @Test
    void shouldGetAsManyAsArriveInOpenLoop() {
        MixPairs pairs = MixPairs.keyedByLength(PAIRS, 1000);
        double perSecond = 2000;
        long expected = Math.round(perSecond * DURATION_NS / 1e9);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads =
                        new ReadGetLoad(device, server.memcachedAddress(), new ReadGetLoad.Limits(3, 4, 1000, PAIRS));
                PipelinedGetLoad gets = new PipelinedGetLoad(server.memcachedAddress(), TcpCommands.CLASSIC, 3, 4);
                PipelinedGetLoad many = new PipelinedGetLoad(server.memcachedAddress(), TcpCommands.MULTI_KEY, 3, 4)) {
            reads.insert(pairs);
            reads.learn(pairs);
            for (GetLoad load : List.of(reads, gets, many)) {
                LoadOutcome outcome = load.run(pairs, 4, Arrivals.open(perSecond, DURATION_NS));
                assertEquals(expected, outcome.gets());
                assertEquals(expected, outcome.latencies().getTotalCount());
                assertEquals(0, outcome.errors());
            }
        }
    }

    @Test
    void shouldCountWrongValues() throws IOException {
        MixPairs pairs = MixPairs.keyedByLength(1, 100);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads =
                        new ReadGetLoad(device, server.memcachedAddress(), new ReadGetLoad.Limits(1, 1, 100, 2));
                PipelinedGetLoad gets = new PipelinedGetLoad(server.memcachedAddress(), TcpCommands.CLASSIC, 1, 1);
                Socket other = new Socket(
                        server.memcachedAddress().getAddress(),
                        server.memcachedAddress().getPort())) {
            reads.insert(pairs);
            reads.learn(pairs);
            String set = new String(pairs.key(0), US_ASCII) + " 0 0 100\r\n" + "x".repeat(100) + "\r\n";
            other.getOutputStream().write(("set " + set).getBytes(US_ASCII));
            assertEquals("STORED", new String(other.getInputStream().readNBytes(6), US_ASCII));
            assertThrows(MeasurementException.class, () -> reads.learn(pairs));
            assertTrue(reads.run(pairs, 1, Arrivals.closed(DURATION_NS)).errors() > 0);
            assertTrue(gets.run(pairs, 1, Arrivals.closed(DURATION_NS)).errors() > 0);
        }
    }

    @ParameterizedTest
    @EnumSource(value = TcpCommands.class, names = "RESP", mode = EnumSource.Mode.EXCLUDE)
    void shouldCountMissesAndGoOn(TcpCommands command) {
        int window = 4;
        MixPairs pairs = MixPairs.keyedByLength(2, 100);
        try (LineConnection one = new LineConnection(server.memcachedAddress());
                PipelinedGetLoad gets = new PipelinedGetLoad(server.memcachedAddress(), command, 2, window)) {
            LoadOutcome none = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, none.gets());
            assertTrue(none.errors() >= 2L * window);
            // With one of two keys there, a request of many finds some of its keys.
            String set = "set " + new String(pairs.key(1), US_ASCII) + " 0 0 100\r\n";
            assertEquals("STORED", one.ask(set.getBytes(US_ASCII), pairs.value(1), "\r\n".getBytes(US_ASCII)));
            LoadOutcome half = gets.run(pairs, window, many());
            assertTrue(half.gets() > 0);
            assertTrue(half.errors() > 0);
            one.ask(
                    ("set " + new String(pairs.key(0), US_ASCII) + " 0 0 100\r\n").getBytes(US_ASCII),
                    pairs.value(0),
                    "\r\n".getBytes(US_ASCII));
            LoadOutcome all = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertTrue(all.gets() > 0);
            assertEquals(0, all.errors(), "nothing is left of the misses before");
        }
    }

    @Test
    void shouldCountAMissByReadAndGoOn() {
        MixPairs pairs = MixPairs.keyedByLength(2, 100);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                LineConnection other = new LineConnection(server.memcachedAddress());
                ReadGetLoad reads =
                        new ReadGetLoad(device, server.memcachedAddress(), new ReadGetLoad.Limits(1, 1, 100, 2))) {
            reads.insert(pairs);
            reads.learn(pairs);
            assertEquals("DELETED", other.ask("delete " + new String(pairs.key(0), US_ASCII)));
            LoadOutcome outcome = reads.run(pairs, 1, many());
            assertTrue(outcome.gets() > 0);
            assertTrue(outcome.errors() > 0);
            assertEquals("{STALE=1, UNKNOWN=" + (outcome.errors() - 1) + "}", outcome.faults());
        }
    }

    @Test
    void shouldMeasureNothingElseThanReads() throws IOException {
        // A plain memcached: a client that may choose would go on over TCP.
        UnaryOperator<String> plain = request -> request.endsWith("\r\n") ? "ERROR\r\n" : null;
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ScriptedServer memcached = new ScriptedServer(plain)) {
            KvException refusal = assertThrows(
                    KvException.class,
                    () -> new ReadGetLoad(device, memcached.address(), new ReadGetLoad.Limits(1, 1, 100, 2)).close());
            assertTrue(String.valueOf(refusal.getMessage()).contains("without RDMA"), refusal.getMessage());
        }
    }

    @Test
    void shouldRefuseValueOfWrongLength() throws IOException {
        MixPairs pairs = MixPairs.keyedByLength(1, 100);
        UnaryOperator<String> shorter =
                request -> request.endsWith("\r\n") ? "VALUE wimpy:100:0 0 3\r\nabc\r\nEND\r\n" : null;
        try (ScriptedServer wrong = new ScriptedServer(shorter);
                PipelinedGetLoad gets = new PipelinedGetLoad(wrong.address(), TcpCommands.CLASSIC, 1, 1)) {
            MeasurementException refusal =
                    assertThrows(MeasurementException.class, () -> gets.run(pairs, 1, Arrivals.closed(DURATION_NS)));
            assertTrue(String.valueOf(refusal.getMessage()).contains("VALUE wimpy:100:0 0 3"), refusal.getMessage());
        }
    }

    @Test
    void shouldReadStatistics() {
        try (MemcachedAdmin admin = new MemcachedAdmin(server.memcachedAddress())) {
            assertEquals("test", admin.version());
            assertEquals("1", admin.stats("").get("threads"));
            assertTrue(admin.stats("rdma").containsKey("device_responderReads"));
            assertEquals(responderReads(), admin.responderReads());
            assertEquals("arena", admin.registration().orElseThrow());
            assertEquals("test", admin.version(), "nothing is left of the answers before");
        }
    }

    private long responderReads() {
        return serverDevice.counters().getOrDefault("responderReads", 0L);
    }

    /** The engine counts after it has answered. */
    private void awaitReads(long expected) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (responderReads() < expected && System.nanoTime() < deadlineNs) {
            Thread.onSpinWait();
        }
        assertEquals(expected, responderReads());
    }
}
