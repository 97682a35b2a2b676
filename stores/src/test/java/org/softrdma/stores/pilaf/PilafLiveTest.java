package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

/** Over TCP, with the server on a thread of its own. */
class PilafLiveTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = new byte[1000];
    private static final int GETS = 2000;
    private static final int ROUNDS = 60;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private VerbsDevice serverDevice;
    private VerbsDevice clientDevice;
    private InetSocketAddress address;
    private AgentRunner runner;

    @BeforeEach
    void start() {
        serverDevice = new SoftRdmaProvider().open(Map.of());
        clientDevice = new SoftRdmaProvider().open(Map.of());
        StoreServer server = StoreDesigns.named("pilaf")
                .serve(
                        serverDevice,
                        new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                                .options(Map.of("entries", "8", "extents", "18"))
                                .conclude());
        address = server.address();
        runner = new AgentRunner(new BackoffIdleStrategy(), failure::set, null, server);
        AgentRunner.startOnThread(runner);
    }

    @AfterEach
    void stop() {
        runner.close();
        clientDevice.close();
        serverDevice.close();
        assertEquals(null, failure.get());
    }

    private StoreClient client(String design) {
        return StoreDesigns.named(design).connect(clientDevice, new StoreClientContext(address).conclude());
    }

    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldStoreGetAndRemove(String design) {
        try (BlockingStore store = new BlockingStore(client(design))) {
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
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldAllocateNothingPerGet(String design) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (StoreClient client = client(design)) {
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

    @Test
    void shouldRefuseWhatCannotBe() {
        StoreDesign design = StoreDesigns.named("pilaf");
        StoreException differs = assertThrows(
                StoreException.class,
                () -> design.connect(
                        clientDevice,
                        new StoreClientContext(address).maxValueLength(100).conclude()));
        assertTrue(String.valueOf(differs.getMessage()).contains("maxValueLength=4096"), differs::toString);
        assertThrows(
                IllegalArgumentException.class,
                () -> design.connect(
                        clientDevice,
                        new StoreClientContext(address)
                                .options(Map.of("x", "y"))
                                .conclude()));
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        assertThrows(
                StoreException.class, () -> design.connect(clientDevice, new StoreClientContext(nobody).conclude()));
        try (StoreClient client = client("pilaf")) {
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[0], 0));
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[251], 0));
            MemorySegment tooLong = MemorySegment.ofArray(new byte[4097]);
            assertThrows(IllegalArgumentException.class, () -> client.startPut(KEY, tooLong, 0));
            for (int i = 0; i < client.window(); i++) {
                assertTrue(client.startGet(KEY, i));
            }
            assertTrue(!client.startGet(KEY, 0), "the window is full");
        }
        assertThrows(IllegalArgumentException.class, () -> StoreDesigns.named("nobody's"));
    }
}
