package org.softrdma.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvTimeoutException;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.server.RunningServer;

/** The memcached side of server and client on a network and a clock that are handed in: one thread, one step at a time. */
class NoSocketsTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final long REQUEST_TIMEOUT_NS = TimeUnit.MINUTES.toNanos(10);

    private final MemoryNetwork network = new MemoryNetwork();
    private final RunningServer running = new RunningServer(
            context -> context.environment(around -> around.withNetwork(network).withNanoClock(network)));

    @AfterEach
    void close() {
        running.close();
    }

    private KvClient client() {
        return KvClient.connect(new KvClientContext(running.address())
                .network(network)
                .nanoClock(network, BusySpinIdleStrategy.INSTANCE)
                .requestTimeoutNs(REQUEST_TIMEOUT_NS)
                .conclude());
    }

    @Test
    void shouldServeClientsStepByStep() {
        byte[] large = new byte[300_000];
        try (KvClient one = client();
                KvClient other = client()) {
            assertEquals(SetStatus.STORED, one.set(KEY, 0, 0, "1".getBytes(StandardCharsets.US_ASCII)));
            assertEquals(OptionalLong.of(2), other.incr(KEY, 1));
            assertEquals(SetStatus.STORED, one.set(KEY, 0, 0, large));
            assertArrayEquals(large, other.get(KEY).orElseThrow().value());
            assertTrue(one.delete(KEY));
            assertTrue(other.get(KEY).isEmpty());
        }
    }

    @Test
    void shouldWaitByTheClockThatIsHandedIn() {
        try (KvClient client = client()) {
            client.set(KEY, 0, 0, KEY);
            network.stop();
            long sentNs = network.nanoTime();
            assertThrows(KvTimeoutException.class, () -> client.get(KEY));
            assertTrue(network.nanoTime() - sentNs >= REQUEST_TIMEOUT_NS);
        }
    }

    @Test
    void shouldExpireByTheClockThatIsHandedIn() {
        try (KvClient client = client()) {
            client.set(KEY, 0, 1000, KEY);
            assertTrue(client.get(KEY).isPresent());
            network.pass(TimeUnit.SECONDS.toNanos(1001));
            assertTrue(client.get(KEY).isEmpty());
        }
    }
}
