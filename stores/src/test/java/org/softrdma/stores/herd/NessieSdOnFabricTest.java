package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.device.VerbsDevice;

/** NessieSD: servers, and clients whose answers are WRITEs. */
class NessieSdOnFabricTest {
    private static final byte[] KEY = HerdRun.bytes("key");
    private static final byte[] VALUE = HerdRun.bytes("value");

    @Test
    void shouldDoAsAMapWhileThereIsRoom() {
        HerdRun.nessieSd().run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                HerdRun.doAsAMap(store, 48, () -> it.server().space().pairs());
            }
        });
    }

    /** One WRITE each way per operation, counted by the devices too; SENDs are the first messages only. */
    @Test
    void shouldNeedOneWriteEachWayPerOperation() {
        HerdRun.nessieSd().run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                int operations = 300;
                for (int i = 0; i < operations / 3; i++) {
                    byte[] key = HerdRun.bytes("key" + i);
                    assertTrue(store.put(key, new byte[5 * i]));
                    assertEquals(5 * i, store.get(key).orElseThrow().length);
                    assertTrue(store.remove(key));
                }
                StoreCounters client = store.client().counters();
                Map<String, Long> responder = it.running().device().counters();
                assertEquals(operations, client.get(StoreCounter.WRITES));
                assertEquals(operations, client.get(StoreCounter.ROUND_TRIPS));
                assertEquals(2, client.get(StoreCounter.SENDS), "who it is, and where answers go");
                assertEquals(0, client.get(StoreCounter.READS));
                assertEquals(0, client.get(StoreCounter.DUPLICATES));
                assertEquals(operations, responder.get("responderWrites"));
                assertEquals(2, responder.get("responderSends"));
                assertEquals(operations, it.server().counters().get(StoreCounter.WRITES));
                assertEquals(1, it.server().counters().get(StoreCounter.SENDS), "the welcome");
                assertEquals(operations, device.counters().get("responderWrites"));
                assertEquals(operations * 2 / 3, it.server().changes());
            }
        });
    }

    /** More operations than slots, begun by the handler of others, so that a slot is used again while it is polled. */
    @Test
    void shouldHaveAWindowOfOperationsOnTheirWay() {
        HerdRun.nessieSd().options(Map.of("workers", "1")).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    StoreClient client = it.client(device)) {
                int total = 400;
                int[] started = new int[1];
                int[] done = new int[1];
                while (started[0] < client.window()) {
                    assertTrue(client.startPut(KEY, value(started[0]), started[0]++));
                }
                while (done[0] < total) {
                    int ignored = client.await(HerdRun.HOUR_NS, (tag, outcome, memory, offset, length) -> {
                        done[0]++;
                        assertEquals(Outcome.STORED, outcome);
                        if (started[0] < total) {
                            assertTrue(client.startPut(KEY, value(started[0]), started[0]++));
                        }
                    });
                }
                assertEquals(0, client.counters().get(StoreCounter.DUPLICATES), "each answer was seen");
                assertEquals(0, client.counters().get(StoreCounter.RECONNECTS));
            }
        });
    }

    /** Some are inline, and some are not. */
    private static MemorySegment value(int number) {
        return MemorySegment.ofArray(new byte[number * 7 % 1000]);
    }

    /** It loses nothing: a PUT without room is refused, and what is there stays. */
    @Test
    void shouldRefuseAPutForWhichThereIsNoRoom() {
        HerdRun.nessieSd().options(Map.of("workers", "1", "entries", "3")).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    StoreClient client = it.client(device);
                    BlockingStore store = new BlockingStore(it.client(device))) {
                for (int i = 0; i < 8; i++) {
                    assertTrue(store.put(HerdRun.bytes("key" + i), VALUE));
                }
                assertEquals(
                        Outcome.FULL, HerdRun.outcome(client, client.startPut(KEY, MemorySegment.ofArray(VALUE), 1)));
                for (int i = 0; i < 8; i++) {
                    assertTrue(store.put(HerdRun.bytes("key" + i), new byte[100 + i]), "a pair that is there");
                    assertEquals(100 + i, store.get(HerdRun.bytes("key" + i)).orElseThrow().length);
                }
                assertTrue(store.get(KEY).isEmpty());
                assertTrue(store.remove(HerdRun.bytes("key3")));
                assertTrue(store.put(KEY, VALUE));
            }
        });
    }

    private static List<FabricStores.RunningServer> serve(Fabric fabric, List<FabricNode> nodes) {
        List<FabricStores.RunningServer> servers = new ArrayList<>();
        for (FabricNode node : nodes) {
            servers.add(FabricStores.serve(
                    fabric,
                    node,
                    new NessieSdDesign(),
                    context -> context.options(Map.of("index", "6", "entries", "6"))));
        }
        return servers;
    }

    private static StoreClientContext context(Fabric fabric, List<FabricStores.RunningServer> servers) {
        return new StoreClientContext(
                        servers.stream().map(each -> each.server().address()).toList())
                .time(fabric.clock(), fabric.idleStrategy())
                .random(fabric.scheduler().choices().generator())
                .conclude();
    }

    /** A hash says which node has a key; and each node has some. */
    @Test
    void shouldAskTheNodeThatHasTheKey() {
        Fabric fabric = new Fabric(7, FabricSettings.DEFAULT);
        FabricNode clientNode = fabric.node("client");
        List<FabricNode> nodes = List.of(fabric.node("one"), fabric.node("two"), fabric.node("three"));
        fabric.run(clientNode, () -> {
            List<FabricStores.RunningServer> servers = serve(fabric, nodes);
            StoreClientContext context = context(fabric, servers);
            try (VerbsDevice device = clientNode.open(Map.of());
                    BlockingStore store = new BlockingStore(new NessieSdDesign().connect(device, context))) {
                HerdRun.doAsAMap(
                        store,
                        100,
                        () -> servers.stream()
                                .mapToLong(each -> each.server().space().pairs())
                                .sum());
                for (int i = 0; i < 90; i++) {
                    assertTrue(store.put(HerdRun.bytes("k" + i), VALUE));
                }
                for (FabricStores.RunningServer server : servers) {
                    assertTrue(
                            server.server().space().pairs() > 15,
                            () -> server.server().space().toString());
                }
                assertEquals(
                        (2 + 1L) * nodes.size(),
                        store.client().counters().get(StoreCounter.SENDS)
                                + servers.stream()
                                        .mapToLong(each -> ((HerdServer) each.server())
                                                .counters()
                                                .get(StoreCounter.SENDS))
                                        .sum(),
                        "the counters of all nodes are one");
            }
            servers.forEach(FabricStores.RunningServer::stop);
        });
    }

    /** A dead node costs the keys of others one attempt to connect at most, however many are dead. */
    @Test
    void shouldAnswerForTheNodeThatLivesWhileOthersAreGone() {
        Fabric fabric = new Fabric(7, FabricSettings.DEFAULT);
        FabricNode clientNode = fabric.node("client");
        List<FabricNode> nodes = List.of(fabric.node("one"), fabric.node("two"), fabric.node("three"));
        fabric.run(clientNode, () -> {
            List<FabricStores.RunningServer> servers = serve(fabric, nodes);
            StoreClientContext context = context(fabric, servers);
            try (VerbsDevice device = clientNode.open(Map.of());
                    StoreClient client = new NessieSdDesign().connect(device, context)) {
                nodes.get(0).powerOff();
                nodes.get(1).powerOff();
                long beganNs = fabric.clock().nanoTime();
                for (int i = 0; i < client.window(); i++) {
                    assertTrue(client.startGet(HerdRun.bytes("key" + i), i));
                }
                int[] missing = new int[1];
                while (client.outstanding() > 0) {
                    int ignored = client.await(HerdRun.HOUR_NS, (tag, outcome, memory, offset, length) -> {
                        missing[0] += outcome == Outcome.MISSING ? 1 : 0;
                        assertTrue(outcome == Outcome.MISSING || outcome == Outcome.LOST, () -> tag + ": " + outcome);
                    });
                }
                long tookNs = fabric.clock().nanoTime() - beganNs;
                assertTrue(missing[0] > 0, "the third node has some of the keys");
                assertTrue(
                        tookNs <= context.timeoutNs() + context.connectTimeoutNs(), () -> "it took " + tookNs + " ns");
            }
            servers.get(2).stop();
        });
    }

    /** A client whose lengths differ is told so, and has no memory of a size that nobody has agreed to. */
    @Test
    void shouldRefuseOtherLengths() {
        HerdRun.nessieSd().run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of())) {
                for (int length : new int[] {100, 1 << 24}) {
                    StoreException refused = assertThrows(
                            StoreException.class,
                            () -> new NessieSdDesign()
                                    .connect(
                                            device,
                                            it.clientContext()
                                                    .maxValueLength(length)
                                                    .conclude()));
                    assertTrue(refused.toString().contains("they must be the same"), refused::toString);
                }
            }
        });
    }

    /** Each end tells how answers come, so that nobody waits for what never comes. */
    @Test
    void shouldNotTakeAServerOfHerdForOneOfItsOwn() {
        HerdRun.nessieSd().run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of())) {
                StoreClientContext context = it.clientContext().conclude();
                StoreException refused =
                        assertThrows(StoreException.class, () -> new HerdRcDesign().connect(device, context));
                assertTrue(refused.toString().contains("answers by WRITE=true, the client"), refused::toString);
            }
        });
    }
}
