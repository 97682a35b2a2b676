package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What Nessie promises, cell by cell. That it is linearizable, proves a miss and loses nothing is in {@link
 * NessieRacesTest}; what the published protocol does not keep to, in {@link NessieMovesTest} and {@link
 * NessieStoppedWorkerTest}.
 */
class NessiePromisesTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OTHER = "other".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(100);
    private static final int STOCK = 32;

    private interface Body {
        void run(Fabric fabric, NessieNodes nodes, FabricNode client) throws Exception;
    }

    private static void run(long seed, Protocol protocol, Body body) {
        Fabric fabric = Fabric.ofSeed(seed);
        FabricNode client = fabric.node("client");
        NessieNodes nodes =
                new NessieNodes(fabric, 2, protocol, Map.of("index", "5", "entries", "7"), context -> context);
        fabric.run(client, () -> {
            nodes.start();
            body.run(fabric, nodes, client);
            nodes.stop();
        });
    }

    private static StoreClient connect(NessieNodes nodes, VerbsDevice device) {
        return new NessieDesign()
                .connect(
                        device,
                        nodes.client()
                                .options(Map.of("stock", Integer.toString(STOCK)))
                                .conclude());
    }

    private static Outcome outcome(StoreClient client, boolean started) {
        assertTrue(started);
        Outcome[] last = new Outcome[1];
        int results = client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> last[0] = outcome);
        assertEquals(1, results);
        return last[0];
    }

    @ParameterizedTest
    @EnumSource(Protocol.class)
    void shouldGetAndPutWithoutTheServersApplications(Protocol protocol) {
        Promises promises = StoreDesigns.named("nessie").promises(protocol);
        assertTrue(promises.getsWithoutServer() && promises.putsWithoutServer());
        run(11, protocol, (fabric, nodes, machine) -> {
            try (VerbsDevice device = machine.open(Map.of());
                    StoreClient client = connect(nodes, device)) {
                MemorySegment value = MemorySegment.ofArray(VALUE);
                assertEquals(Outcome.STORED, outcome(client, client.startPut(KEY, value, 0)));
                fabric.scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(10));
                nodes.node(0).pauseProcesses(PAUSE_NS);
                nodes.node(1).pauseProcesses(PAUSE_NS);
                assertEquals(Outcome.FOUND, outcome(client, client.startGet(KEY, 1)));
                assertEquals(Outcome.MISSING, outcome(client, client.startGet(OTHER, 2)));
                int puts = STOCK / 2;
                for (int i = 0; i < puts; i++) {
                    assertEquals(Outcome.STORED, outcome(client, client.startPut(OTHER, value, 3)), "put " + i);
                }
                assertEquals(Outcome.REMOVED, outcome(client, client.startRemove(KEY, 4)));
                int more = 0;
                while (outcome(client, client.startPut(KEY, value, 5)) == Outcome.STORED) {
                    more++;
                }
                assertTrue(more <= STOCK, "a PUT needs an entry in stock, and nobody gives any");
                assertEquals(Outcome.FOUND, outcome(client, client.startGet(OTHER, 6)));
                fabric.scheduler().sleep(PAUSE_NS);
                assertEquals(Outcome.STORED, outcome(client, client.startPut(KEY, value, 7)));
            }
        });
    }

    @Test
    void shouldSurviveAClientsDeathAtAnyPoint() {
        StoreDesign design = StoreDesigns.named("nessie");
        assertTrue(design.promises(Protocol.SAFE).survivesClientDeath());
        for (long afterNs = 0; afterNs < 600_000; afterNs += 20_000) {
            long dyingNs = afterNs;
            run(afterNs, Protocol.SAFE, (fabric, nodes, machine) -> {
                FabricNode victim = fabric.node("victim");
                SimulatedThread dying = victim.start("victim", () -> {
                    try (VerbsDevice device = victim.open(Map.of());
                            BlockingStore store = new BlockingStore(connect(nodes, device))) {
                        while (store.put(KEY, new byte[1000])) {
                            assertTrue(store.get(KEY).isPresent());
                        }
                    }
                });
                fabric.scheduler().sleep(dyingNs);
                victim.kill();
                try (VerbsDevice device = machine.open(Map.of());
                        BlockingStore store = new BlockingStore(connect(nodes, device))) {
                    assertTrue(store.put(KEY, VALUE));
                    assertEquals(VALUE.length, store.get(KEY).orElseThrow().length);
                    assertTrue(store.remove(KEY));
                    assertTrue(store.get(KEY).isEmpty());
                }
                assertTrue(fabric.scheduler().until(dying::isEnded, PAUSE_NS));
            });
        }
    }

    /** PUTs that end while a node is gone leave their places and entries to others. */
    @Test
    void shouldGoOnAfterATimeWithoutAServer() {
        run(13, Protocol.SAFE, (fabric, nodes, machine) -> {
            try (VerbsDevice device = machine.open(Map.of());
                    BlockingStore store = new BlockingStore(connect(nodes, device))) {
                StoreClient client = store.client();
                for (int round = 0; round < 4; round++) {
                    for (int i = 0; i < client.window(); i++) {
                        assertTrue(client.startPut(
                                ("key" + i).getBytes(StandardCharsets.US_ASCII), MemorySegment.ofArray(VALUE), i));
                    }
                    nodes.crash(round % 2);
                    while (client.outstanding() > 0) {
                        assertTrue(client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> {}) > 0);
                    }
                    fabric.scheduler()
                            .sleep(TimeUnit.SECONDS.toNanos(1)); // clients wait a little before they try again
                    for (int i = 0; i < 2 * client.window(); i++) {
                        assertTrue(store.put(KEY, VALUE));
                        assertTrue(store.get(KEY).isPresent());
                    }
                }
            }
        });
    }

    @Test
    void shouldPromiseWhatItsPageSays() {
        StoreDesign design = StoreDesigns.named("nessie");
        assertEquals(
                new Promises(Consistency.LINEARIZABLE, true, true, true, true, false), design.promises(Protocol.SAFE));
        assertEquals(new Promises(Consistency.NONE, true, true, true, false, false), design.promises(Protocol.PAPER));
    }
}
