package org.softrdma.bench.wimpy;

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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.bench.perf.Arrivals;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsDevice;

class GetLoadTest {
    private static final long DURATION_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int PAIRS = 50;

    private final VerbsDevice serverDevice = new SoftRdmaProvider().open(Map.of());
    private final KvServer server = KvServer.start(
            serverDevice,
            new KvServerContext()
                    .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .threads(1)
                    .version("test")
                    .conclude());

    @AfterEach
    void stop() {
        server.close();
        serverDevice.close();
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1024, 1", "1024, 16", "100000, 1", "100000, 16"})
    void shouldGetRightValuesByReadAndOverTcp(int valueLength, int window) {
        KeySpace pairs = new KeySpace(valueLength, PAIRS);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads = new ReadGetLoad(device, server.memcachedAddress(), 3, window, valueLength, PAIRS);
                PipelinedGetLoad gets =
                        new PipelinedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 3, window)) {
            reads.insert(pairs);
            reads.learn(pairs);
            long before = responderReads();
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
        KeySpace pairs = new KeySpace(1000, PAIRS);
        try (MemcachedAdmin admin = new MemcachedAdmin(server.memcachedAddress());
                PipelinedGetLoad gets =
                        new PipelinedGetLoad(server.memcachedAddress(), GetCommand.MULTI, connections, window)) {
            admin.insert(pairs);
            LoadOutcome outcome = gets.run(pairs, window, Arrivals.closed(DURATION_NS));
            assertEquals(0, outcome.errors());
            assertTrue(outcome.gets() >= (long) connections * window);
            assertEquals(0, outcome.gets() % window);
        }
    }

    @Test
    void shouldGetAsManyAsArriveInOpenLoop() {
        KeySpace pairs = new KeySpace(1000, PAIRS);
        double perSecond = 2000;
        long expected = Math.round(perSecond * DURATION_NS / 1e9);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads = new ReadGetLoad(device, server.memcachedAddress(), 3, 4, 1000, PAIRS);
                PipelinedGetLoad gets = new PipelinedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 3, 4);
                PipelinedGetLoad many = new PipelinedGetLoad(server.memcachedAddress(), GetCommand.MULTI, 3, 4)) {
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
        KeySpace pairs = new KeySpace(100, 1);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads = new ReadGetLoad(device, server.memcachedAddress(), 1, 1, 100, 2);
                PipelinedGetLoad gets = new PipelinedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 1, 1);
                Socket other = new Socket(
                        server.memcachedAddress().getAddress(),
                        server.memcachedAddress().getPort())) {
            reads.insert(pairs);
            reads.learn(pairs);
            String set = new String(pairs.key(0), US_ASCII) + " 0 0 100\r\n" + "x".repeat(100) + "\r\n";
            other.getOutputStream().write(("set " + set).getBytes(US_ASCII));
            assertEquals("STORED", new String(other.getInputStream().readNBytes(6), US_ASCII));
            assertThrows(WimpyException.class, () -> reads.learn(pairs));
            assertTrue(reads.run(pairs, 1, Arrivals.closed(DURATION_NS)).errors() > 0);
            assertTrue(gets.run(pairs, 1, Arrivals.closed(DURATION_NS)).errors() > 0);
        }
    }

    @Test
    void shouldRefuseValueOfWrongLength() {
        KeySpace pairs = new KeySpace(100, 1);
        try (PipelinedGetLoad gets = new PipelinedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 1, 1)) {
            WimpyException missing =
                    assertThrows(WimpyException.class, () -> gets.run(pairs, 1, Arrivals.closed(DURATION_NS)));
            assertTrue(String.valueOf(missing.getMessage()).contains("END"), missing.getMessage());
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
