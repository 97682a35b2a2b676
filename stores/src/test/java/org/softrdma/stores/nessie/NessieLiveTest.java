package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

/** Over TCP: two nodes on a thread of their own. */
class NessieLiveTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = new byte[1000];
    private static final int NODES = 2;
    private static final int GETS = 2000;
    private static final int ROUNDS = 60;
    private static final int CLIENTS = 3;
    private static final int CHANGES = 3000;
    private static final int KEYS = 10;
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(1);

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<VerbsDevice> devices = new ArrayList<>();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private VerbsDevice clientDevice;
    private AgentRunner runner;

    @BeforeEach
    void start() {
        List<StoreServer> servers = new ArrayList<>();
        for (int node = 0; node < NODES; node++) {
            VerbsDevice device = new SoftRdmaProvider().open(Map.of());
            devices.add(device);
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            StoreServer server = new NessieDesign()
                    .serve(
                            device,
                            new StoreServerContext(any)
                                    .options(Map.of(
                                            "nodes",
                                            "" + NODES,
                                            "node",
                                            "" + node,
                                            "index",
                                            "4",
                                            "entries",
                                            "10",
                                            "reuse-ms",
                                            "10"))
                                    .conclude());
            servers.add(server);
            addresses.add(server.address());
        }
        clientDevice = new SoftRdmaProvider().open(Map.of());
        runner = new AgentRunner(
                new BackoffIdleStrategy(),
                error -> failure.compareAndSet(null, error),
                null,
                new CompositeAgent(servers));
        Thread ignored = AgentRunner.startOnThread(runner);
    }

    @AfterEach
    void stop() {
        runner.close();
        clientDevice.close();
        devices.forEach(VerbsDevice::close);
        assertEquals(null, failure.get());
    }

    private StoreClient client(VerbsDevice device, int home, int cache) {
        Map<String, String> options =
                Map.of("home", Integer.toString(home), "cache", Integer.toString(cache), "stock", "64");
        return new NessieDesign()
                .connect(
                        device,
                        new StoreClientContext(addresses)
                                .timeoutNs(PATIENCE_NS)
                                .options(options)
                                .conclude());
    }

    @Test
    void shouldStoreGetAndRemove() {
        try (BlockingStore store = new BlockingStore(client(clientDevice, 1, 16))) {
            assertTrue(store.get(KEY).isEmpty());
            assertTrue(store.put(KEY, VALUE));
            assertEquals(VALUE.length, store.get(KEY).orElseThrow().length);
            assertTrue(store.put(KEY, new byte[0]));
            assertEquals(0, store.get(KEY).orElseThrow().length);
            assertTrue(store.remove(KEY));
            assertTrue(store.get(KEY).isEmpty());
            assertTrue(!store.remove(KEY));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16})
    void shouldAllocateNothingPerGet(int cache) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (StoreClient client = client(clientDevice, 0, cache)) {
            long[] found = new long[1];
            ResultHandler handler =
                    (tag, outcome, memory, offset, length) -> found[0] += outcome == Outcome.FOUND ? 1 : 0;
            assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), 0));
            assertEquals(1, client.await(Long.MAX_VALUE, handler));
            double perGet = Double.MAX_VALUE;
            int rounds = 0;
            while (perGet >= 1 && rounds < ROUNDS) { // until the compiler is through with it
                long before = threads.getCurrentThreadAllocatedBytes();
                getAll(client, handler);
                perGet = (double) (threads.getCurrentThreadAllocatedBytes() - before) / GETS;
                rounds++;
            }
            assertEquals((long) rounds * GETS, found[0]);
            assertTrue(perGet < 1, perGet + " bytes per GET");
        }
    }

    private static void getAll(StoreClient client, ResultHandler handler) {
        int started = 0;
        while (started < GETS || client.outstanding() > 0) {
            while (started < GETS && client.startGet(KEY, started)) {
                started++;
            }
            int ignored = client.poll(handler);
        }
    }

    /** Clients on threads of their own put, remove and get the same few keys; each value that one gets is whole. */
    @Test
    void shouldReadWholeValuesWhileOthersChangeThem() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            int me = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    change(me);
                } catch (RuntimeException | AssertionError e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void change(int me) {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                StoreClient client = client(device, me % NODES, 4)) {
            for (int i = 0; i < CHANGES; i++) {
                int key = i * (me + 1) % KEYS;
                byte[] name = {(byte) ('a' + key)};
                boolean started = switch (i % 4) {
                    case 0 -> client.startPut(name, NumberedValue.of(key, i, 1 + i % 100), key);
                    case 1 -> client.startRemove(name, key);
                    default -> client.startGet(name, key);
                };
                assertTrue(started);
                while (client.outstanding() == client.window()) {
                    int ignored = client.await(Long.MAX_VALUE, NessieLiveTest::check);
                }
            }
            while (client.outstanding() > 0) {
                int ignored = client.await(Long.MAX_VALUE, NessieLiveTest::check);
            }
        }
    }

    private static void check(long tag, Outcome outcome, MemorySegment memory, long offset, long length) {
        if (outcome == Outcome.FOUND) {
            long ignored = NumberedValue.number((int) tag, memory, offset, length);
        }
        assertTrue(outcome != Outcome.LOST && outcome != Outcome.GAVE_UP, () -> "key " + tag + ": " + outcome);
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        StoreDesign design = StoreDesigns.named("nessie");
        assertRefused("maxValueLength=4096", new StoreClientContext(addresses).maxValueLength(100));
        assertRefused("node 0 of 2", new StoreClientContext(addresses.getFirst()));
        assertRefused("calls itself node 1", new StoreClientContext(addresses.reversed()));
        assertRefused("the same protocol", new StoreClientContext(addresses).protocol(Protocol.PAPER));
        for (Map<String, String> options : List.of(Map.of("x", "y"), Map.of("home", "2"), Map.of("stock", "0"))) {
            StoreClientContext context =
                    new StoreClientContext(addresses).options(options).conclude();
            assertThrows(IllegalArgumentException.class, () -> design.connect(clientDevice, context));
        }
        try (StoreClient client = client(clientDevice, 0, 0)) {
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[0], 0));
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[251], 0));
            MemorySegment tooLong = MemorySegment.ofArray(new byte[4097]);
            assertThrows(IllegalArgumentException.class, () -> client.startPut(KEY, tooLong, 0));
            for (int i = 0; i < client.window(); i++) {
                assertTrue(client.startGet(KEY, i));
            }
            assertTrue(!client.startGet(KEY, 0), "the window is full");
        }
    }

    private void assertRefused(String part, StoreClientContext context) {
        StoreException refused = assertThrows(
                StoreException.class, () -> StoreDesigns.named("nessie").connect(clientDevice, context.conclude()));
        assertTrue(String.valueOf(refused.getMessage()).contains(part), refused::toString);
    }
}
