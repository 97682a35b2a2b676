package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.live.LiveChecks;
import org.softrdma.stores.live.LiveStores;
import org.softrdma.verbs.device.VerbsDevice;

/** Over TCP: two nodes on a thread of their own. */
class NessieLiveTest {
    private static final int NODES = 2;
    private static final int CLIENTS = 3;
    private static final int CHANGES = 3000;
    private static final int KEYS = 10;
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(1);

    private LiveStores live;

    @BeforeEach
    void start() {
        live = new LiveStores(
                NODES,
                (node, device, context) -> new NessieDesign()
                        .serve(
                                device,
                                context.options(Map.of(
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
                                        .conclude()));
    }

    @AfterEach
    void stop() {
        live.close();
    }

    private StoreClient client(VerbsDevice device, int home, int cache) {
        Map<String, String> options =
                Map.of("home", Integer.toString(home), "cache", Integer.toString(cache), "stock", "64");
        return new NessieDesign()
                .connect(
                        device,
                        new StoreClientContext(live.addresses())
                                .timeoutNs(PATIENCE_NS)
                                .options(options)
                                .conclude());
    }

    @Test
    void shouldStoreGetAndRemove() {
        LiveChecks.storesGetsAndRemoves(client(live.clientDevice(), 1, 16));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16})
    void shouldAllocateNothingPerGet(int cache) {
        LiveChecks.allocatesNothingPerGet(client(live.clientDevice(), 0, cache), live::allocatedBytes);
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
                    live.fail(e);
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
        assertRefused("maxValueLength=4096", new StoreClientContext(live.addresses()).maxValueLength(100));
        assertRefused("node 0 of 2", new StoreClientContext(live.addresses().getFirst()));
        assertRefused(
                "calls itself node 1", new StoreClientContext(live.addresses().reversed()));
        assertRefused("the same protocol", new StoreClientContext(live.addresses()).protocol(Protocol.PAPER));
        for (Map<String, String> options : List.of(Map.of("x", "y"), Map.of("home", "2"), Map.of("stock", "0"))) {
            StoreClientContext context =
                    new StoreClientContext(live.addresses()).options(options).conclude();
            assertThrows(IllegalArgumentException.class, () -> design.connect(live.clientDevice(), context));
        }
        LiveChecks.refusesWhatIsTooMuch(client(live.clientDevice(), 0, 0));
    }

    private void assertRefused(String part, StoreClientContext context) {
        StoreException refused = assertThrows(
                StoreException.class,
                () -> StoreDesigns.named("nessie").connect(live.clientDevice(), context.conclude()));
        assertTrue(String.valueOf(refused.getMessage()).contains(part), refused::toString);
    }
}
