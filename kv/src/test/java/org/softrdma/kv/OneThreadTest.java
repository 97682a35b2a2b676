package org.softrdma.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvTimeoutException;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The whole store in one thread: the server's agents and connections do their work while a client waits, both devices are in
 * manual progress, and the clock of the store moves when nobody has anything to do. Only the queue pair is a real socket.
 */
@ParameterizedClass
@EnumSource
class OneThreadTest {
    private static final byte[] KEY = bytes("key");
    private static final long REQUEST_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    /** Of other tests in this JVM. */
    private final Set<Thread> others = Thread.getAllStackTraces().keySet();

    private final MemoryNetwork network = new MemoryNetwork();
    private final RunningServer running;
    private final VerbsDevice device = SteppingTransport.device(network);

    OneThreadTest(Registration registration) {
        running = new RunningServer(
                context -> context.items(items -> items.registration(registration))
                        .environment(around -> around.withNetwork(network)
                                .withOwnThreads(network.agents())
                                .withNanoClock(network)),
                Map.of("progress", "manual"));
    }

    @AfterEach
    void close() {
        device.close();
        running.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private KvClientContext context(KvProtocol protocol) {
        return new KvClientContext(running.address())
                .protocol(protocol)
                .network(network)
                .nanoClock(network, BusySpinIdleStrategy.INSTANCE)
                .requestTimeoutNs(REQUEST_TIMEOUT_NS)
                .conclude();
    }

    private KvClient reader() {
        return KvClient.connect(device, context(KvProtocol.RDMA));
    }

    /** A client whose changes the reader does not know of. */
    private KvClient writer() {
        return KvClient.connect(context(KvProtocol.PLAIN));
    }

    @Test
    void shouldServeGetsByReadStepByStep() {
        try (KvClient reader = reader()) {
            assertEquals(SetStatus.STORED, reader.set(KEY, 7, 0, bytes("value")));
            for (int i = 1; i <= 100; i++) {
                assertArrayEquals(bytes("value"), reader.get(KEY).orElseThrow().value());
                assertEquals(i, reader.counters().hits());
            }
            assertEquals(100, running.deviceCounter("responderReads"));
            assertEquals(0, reader.counters().rgets());
        }
    }

    @Test
    void shouldRunOnNoThreadOfItsOwn() {
        try (KvClient reader = reader()) {
            reader.set(KEY, 0, 0, KEY);
            assertTrue(reader.get(KEY).isPresent());
            List<String> threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> !others.contains(thread))
                    .map(Thread::getName)
                    .filter(name -> name.startsWith("kv-"))
                    .toList();
            assertEquals(List.of(), threads);
        }
    }

    @Test
    void shouldSeeWhatOthersChanged() {
        try (KvClient reader = reader();
                KvClient writer = writer()) {
            writer.set(KEY, 0, 0, bytes("one"));
            assertArrayEquals(bytes("one"), reader.get(KEY).orElseThrow().value());
            assertEquals(1, reader.counters().rgets(), "the server wrote it, and said where it is");
            writer.set(KEY, 0, 0, bytes("two"));
            assertArrayEquals(bytes("two"), reader.get(KEY).orElseThrow().value());
            writer.delete(KEY);
            assertTrue(reader.get(KEY).isEmpty());
        }
    }

    @Test
    void shouldFlushBehindTheScenes() {
        try (KvClient reader = reader();
                KvClient writer = writer()) {
            reader.set(KEY, 0, 0, KEY);
            writer.flushAll(java.time.Duration.ZERO);
            assertTrue(reader.get(KEY).isEmpty());
        }
    }

    @Test
    void shouldExpireAndReclaimByTheClockThatIsHandedIn() {
        try (KvClient reader = reader();
                KvClient writer = writer()) {
            reader.set(KEY, 0, 1000, KEY);
            reader.set(bytes("other"), 0, 1000, KEY);
            assertTrue(reader.get(KEY).isPresent());
            network.pass(TimeUnit.SECONDS.toNanos(1001));
            assertTrue(reader.get(KEY).isEmpty());
            for (int round = 0; round < 60; round++) {
                network.stepAll();
                network.pass(TimeUnit.SECONDS.toNanos(1));
            }
            assertEquals("0", writer.stats("").get("curr_items"));
        }
    }

    @Test
    void shouldReportHitsByTheClockThatIsHandedIn() {
        try (KvClient writer = writer()) {
            try (KvClient reader = reader()) {
                reader.set(KEY, 0, 0, KEY);
                for (int i = 0; i < 5; i++) {
                    reader.get(KEY);
                    network.pass(TimeUnit.SECONDS.toNanos(1));
                }
                assertEquals(5, reader.counters().hits());
            }
            assertEquals("5", writer.stats("rdma").get("rdma_get_hits"));
        }
    }

    @Test
    void shouldGiveUpAReadByTheClockThatIsHandedIn() {
        try (KvClient reader = reader()) {
            reader.set(KEY, 0, 0, KEY);
            network.stop();
            long sentNs = network.nanoTime();
            assertThrows(KvTimeoutException.class, () -> reader.get(KEY));
            assertTrue(network.nanoTime() - sentNs >= REQUEST_TIMEOUT_NS);
        }
    }
}
