package org.softrdma.bench.wimpy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
                MemcachedGetLoad gets =
                        new MemcachedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 3, window)) {
            reads.insert(pairs);
            reads.learn(pairs);
            long before = responderReads();
            LoadOutcome byRead = reads.run(pairs, window, DURATION_NS);
            assertEquals(0, byRead.errors());
            assertTrue(byRead.gets() >= 3L * window);
            assertEquals(byRead.gets(), byRead.latencies().getTotalCount());
            awaitReads(before + byRead.gets());
            LoadOutcome overTcp = gets.run(pairs, window, DURATION_NS);
            assertEquals(0, overTcp.errors());
            assertTrue(overTcp.gets() >= 3L * window);
            assertEquals(overTcp.gets(), overTcp.latencies().getTotalCount());
        }
    }

    @Test
    void shouldCountWrongValues() throws IOException {
        KeySpace pairs = new KeySpace(100, 1);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                ReadGetLoad reads = new ReadGetLoad(device, server.memcachedAddress(), 1, 1, 100, 2);
                MemcachedGetLoad gets = new MemcachedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 1, 1);
                Socket other = new Socket(
                        server.memcachedAddress().getAddress(),
                        server.memcachedAddress().getPort())) {
            reads.insert(pairs);
            reads.learn(pairs);
            String set = new String(pairs.key(0), US_ASCII) + " 0 0 100\r\n" + "x".repeat(100) + "\r\n";
            other.getOutputStream().write(("set " + set).getBytes(US_ASCII));
            assertEquals("STORED", new String(other.getInputStream().readNBytes(6), US_ASCII));
            assertThrows(WimpyException.class, () -> reads.learn(pairs));
            assertTrue(reads.run(pairs, 1, DURATION_NS).errors() > 0);
            assertTrue(gets.run(pairs, 1, DURATION_NS).errors() > 0);
        }
    }

    @Test
    void shouldRefuseValueOfWrongLength() {
        KeySpace pairs = new KeySpace(100, 1);
        try (MemcachedGetLoad gets = new MemcachedGetLoad(server.memcachedAddress(), GetCommand.CLASSIC, 1, 1)) {
            WimpyException missing = assertThrows(WimpyException.class, () -> gets.run(pairs, 1, DURATION_NS));
            assertTrue(String.valueOf(missing.getMessage()).contains("END"), missing.getMessage());
        }
    }

    @Test
    void shouldReadStatistics() {
        try (AdminConnection admin = new AdminConnection(server.memcachedAddress())) {
            assertEquals("test", admin.version());
            assertEquals("1", admin.stats("").get("threads"));
            assertTrue(admin.stats("rdma").containsKey("device_responderReads"));
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
