package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.server.RawMemcached;
import org.softrdma.kv.server.RunningServer;

/** What one client does wrong costs that client only: others go on, memory stays bounded, the server counts it. */
class BadInputTest {
    private static final int MIB = 1 << 20;
    private static final int CONNECTIONS = 64;
    private static final int TOO_MANY_CONNECTIONS = 2000;
    private static final int UNREAD_GETS = 10_000;
    private static final int MANY = 200;
    private static final int LARGE = 500_000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final byte[] KEY = "witness".getBytes(StandardCharsets.US_ASCII);

    private final RunningServer running = new RunningServer(
            context -> context.items(items -> items.memoryLimit(16 * MIB).maxItemLength(MIB))
                    .maxConnections(CONNECTIONS));
    private final KvClient client = running.client();
    private final RawMemcached plain;
    private int round;

    BadInputTest() throws IOException {
        plain = new RawMemcached(running.address());
    }

    @BeforeEach
    void shouldWorkBefore() throws IOException {
        othersGoOn();
    }

    @AfterEach
    void shouldWorkAfterwards() throws IOException {
        try (running;
                client;
                plain) {
            othersGoOn();
        }
    }

    @Test
    void shouldRefuseTooLongKey() throws IOException {
        String key = "k".repeat(300);
        for (String command : List.of("get " + key, "gets a " + key, "delete " + key, "set " + key + " 0 0 0\r\n")) {
            try (RawMemcached bad = new RawMemcached(running.address())) {
                bad.send(command + "\r\n");
                String answer = bad.readLine();
                assertTrue(answer.startsWith("CLIENT_ERROR"), () -> "'" + command + "' was answered '" + answer + "'");
            }
        }
        assertEquals(1, statistic("curr_items"));
    }

    @Test
    void shouldRefuseTooLargeValueAndGoOnWithThatClientToo() throws IOException {
        try (RawMemcached bad = new RawMemcached(running.address())) {
            for (int i = 0; i < 10; i++) {
                bad.send("set a 0 0 " + 2 * MIB + "\r\n");
                bad.send(new byte[2 * MIB]);
                bad.send("\r\n");
                assertEquals("SERVER_ERROR object too large for cache", bad.readLine());
            }
            bad.send("get a\r\n");
            assertEquals("END", bad.readLine());
        }
        assertEquals(10, statistic("store_too_large"));
    }

    /** Each holds half a large item when it goes: were those not given back, the memory would be gone after some. */
    @Test
    void shouldForgetClientsThatLeaveInTheMiddle() throws IOException {
        for (int i = 0; i < MANY; i++) {
            try (RawMemcached bad = new RawMemcached(running.address())) {
                bad.send("set half" + i + " 0 0 " + LARGE + "\r\n");
                bad.send(new byte[LARGE / 2]);
            }
            try (RawMemcached bad = new RawMemcached(running.address())) {
                bad.send("get witne");
            }
            awaitConnections(2); // or a slow server has more of them than it may
        }
        plain.send("set whole 0 0 " + LARGE + "\r\n");
        plain.send(new byte[LARGE]);
        plain.send("\r\n");
        assertEquals("STORED", plain.readLine());
        assertEquals(2, statistic("curr_items"));
    }

    @Test
    void shouldSurviveGarbage() throws IOException {
        long seed = Long.getLong("softrdma.seed", 99);
        Random random = new Random(seed);
        for (int i = 0; i < MANY; i++) {
            byte[] garbage = new byte[1 + random.nextInt(8000)];
            random.nextBytes(garbage);
            try (RawMemcached bad = new RawMemcached(running.address())) {
                bad.send(garbage);
                bad.send("\r\nquit\r\n");
            } catch (SocketException e) {
                // it was closed before all was sent
            }
        }
        awaitConnections(2);
        othersGoOn();
        assertEquals(0, running.deviceCounter("accessErrors"), () -> "softrdma.seed=" + seed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"get large", "gat 0 large", "mg large v", "mg large s v f k"})
    void shouldBoundWhatAClientDoesNotRead(String request) throws IOException {
        assertEquals(SetStatus.STORED, client.set(name("large"), 0, 0, new byte[LARGE]));
        long before = usedDirectMemory();
        try (RawMemcached bad = new RawMemcached(running.address())) {
            bad.send((request + "\r\n").repeat(UNREAD_GETS));
            // The requests of others that share its thread come after what the server does for it.
            for (int i = 0; i < 2000; i++) {
                othersGoOn();
                long taken = usedDirectMemory() - before;
                assertTrue(taken < 64 * MIB, () -> taken + " bytes are buffered");
            }
            assertTrue(
                    statistic("get_hits") < UNREAD_GETS,
                    "all was answered, although nobody reads it: there was nothing to bound");
        }
        awaitConnections(2);
    }

    @Test
    void shouldRefuseConnectionsAboveTheLimit() throws IOException {
        List<RawMemcached> bad = new ArrayList<>();
        try {
            for (int i = 2; i < CONNECTIONS + TOO_MANY_CONNECTIONS; i++) {
                bad.add(new RawMemcached(running.address()));
            }
            othersGoOn();
            // Which of them come too late is between the threads that accept them.
            List<RawMemcached> refused = awaitAnswered(bad, TOO_MANY_CONNECTIONS);
            for (RawMemcached each : bad) {
                if (refused.contains(each)) {
                    assertEquals("ERROR Too many open connections", each.readLine());
                    assertTrue(each.isClosedByServer());
                } else {
                    each.send("get none\r\n");
                    assertEquals("END", each.readLine());
                }
            }
            assertEquals(TOO_MANY_CONNECTIONS, statistic("rejected_connections"));
            othersGoOn();
        } finally {
            for (RawMemcached each : bad) {
                each.close();
            }
        }
        awaitConnections(2);
        try (RawMemcached again = new RawMemcached(running.address())) {
            again.send("get none\r\n");
            assertEquals("END", again.readLine());
        }
    }

    private static long usedDirectMemory() {
        return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
                .metric()
                .usedDirectMemory();
    }

    /** One client by READ and one over TCP set and get. */
    private void othersGoOn() throws IOException {
        byte[] value = ("value" + ++round).getBytes(StandardCharsets.US_ASCII);
        assertEquals(SetStatus.STORED, client.set(KEY, 0, 0, value));
        assertArrayEquals(value, client.get(KEY).orElseThrow().value());
        plain.send("get witness\r\n");
        assertEquals("VALUE witness 0 " + value.length, plain.readLine());
        assertEquals("value" + round, plain.readLine());
        assertEquals("END", plain.readLine());
    }

    /** Waits until so many have something to be read; those. */
    private static List<RawMemcached> awaitAnswered(List<RawMemcached> all, int count) throws IOException {
        long endNs = System.nanoTime() + PATIENCE_NS;
        List<RawMemcached> answered = new ArrayList<>();
        while (answered.size() < count) {
            assertTrue(System.nanoTime() < endNs, answered.size() + " have an answer, expected " + count);
            answered.clear();
            for (RawMemcached each : all) {
                if (each.hasInput()) {
                    answered.add(each);
                }
            }
        }
        return answered;
    }

    private void awaitConnections(long count) throws IOException {
        long endNs = System.nanoTime() + PATIENCE_NS;
        while (statistic("curr_connections") != count) {
            assertTrue(System.nanoTime() < endNs, "connections of clients that are gone are still there");
        }
    }

    private long statistic(String name) throws IOException {
        long value = -1;
        plain.send("stats\r\n");
        for (String line = plain.readLine(); !line.equals("END"); line = plain.readLine()) {
            String[] words = line.split(" ", -1);
            if (words[1].equals(name)) {
                value = Long.parseLong(words[2]);
            }
        }
        assertTrue(value >= 0, () -> "no statistic is called " + name);
        return value;
    }

    private static byte[] name(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }
}
