package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.verbs.device.VerbsDevice;

/** A change whose answer is lost with its connection is made once, whatever the server remembers of the client. */
class PilafAtMostOnceTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] FIRST = {1};
    private static final byte[] SECOND = {2};
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final int WELCOME = 1;
    private static final int ANSWER = 2;

    private static final PilafDesign DESIGN = new PilafDesign();

    /** The server remembers two clients; meanwhile others change the key. */
    private static void run(FaultPlan faults, int others, Outcome expected, int duplicates, byte[] left) {
        Fabric fabric = new Fabric(5, FabricSettings.DEFAULT.with(faults));
        FabricNode server = fabric.node("server");
        FabricNode victim = fabric.node("victim");
        FabricNode other = fabric.node("other");
        fabric.run(victim, () -> {
            var running = FabricStores.serve(fabric, server, DESIGN, context -> context.maxConnections(1));
            try (VerbsDevice device = victim.open(Map.of());
                    StoreClient client = DESIGN.connect(
                            device,
                            FabricStores.client(fabric, server)
                                    .timeoutNs(HOUR_NS)
                                    .conclude())) {
                assertTrue(client.startPut(KEY, MemorySegment.ofArray(FIRST), 0));
                fabric.scheduler()
                        .sleep(SECOND_NS); // the change is made, its answer is lost, and the client has not looked
                try (VerbsDevice otherDevice = other.open(Map.of())) {
                    for (int i = others; i > 0; i--) {
                        try (BlockingStore store = new BlockingStore(DESIGN.connect(
                                otherDevice, FabricStores.client(fabric, server).conclude()))) {
                            assertArrayEquals(
                                    i == others ? FIRST : SECOND, store.get(KEY).orElseThrow());
                            assertTrue(store.put(KEY, SECOND));
                        }
                        fabric.scheduler().sleep(SECOND_NS);
                    }
                }
                Outcome[] last = new Outcome[1];
                assertEquals(1, client.await(HOUR_NS, (tag, outcome, memory, offset, length) -> last[0] = outcome));
                assertEquals(expected, last[0]);
                assertEquals(1, client.counters().get(StoreCounter.RECONNECTS));
                assertEquals(duplicates, client.counters().get(StoreCounter.DUPLICATES));
                BlockingStore store = new BlockingStore(client);
                assertArrayEquals(left, store.get(KEY).orElseThrow());
            }
            running.stop();
        });
    }

    private static FaultPlan cut(FaultPlan plan, int message, int connection) {
        return plan.and(new When.OnMessage("server", "victim", MessageKind.SEND, message, connection), new What.Cut());
    }

    @Test
    void shouldAskAgainForAChangeOfAServerThatRemembers() {
        run(cut(FaultPlan.NONE, ANSWER, 1), 0, Outcome.STORED, 1, FIRST);
    }

    @Test
    void shouldAskAgainThoughAnAttemptToConnectFailed() {
        run(cut(cut(FaultPlan.NONE, ANSWER, 1), WELCOME, 2), 0, Outcome.STORED, 1, FIRST);
    }

    @Test
    void shouldNotAskAgainForAChangeOfAServerThatHasForgotten() {
        run(cut(FaultPlan.NONE, ANSWER, 1), 2, Outcome.LOST, 0, SECOND);
    }

    /** The session that the second attempt finds is the first one's, and knows of no change. */
    @Test
    void shouldNotAskAgainForAChangeOfASessionThatAFailedAttemptHasMade() {
        run(cut(cut(FaultPlan.NONE, ANSWER, 1), WELCOME, 2), 2, Outcome.LOST, 0, SECOND);
    }

    /** A client that connects again has left its old connection, although the server has not noticed. */
    @Test
    void shouldKeepOneConnectionOfAClient() {
        Fabric fabric = new Fabric(6, FabricSettings.DEFAULT);
        FabricNode server = fabric.node("server");
        FabricNode machine = fabric.node("client");
        fabric.run(machine, () -> {
            var running = FabricStores.serve(fabric, server, DESIGN, context -> context);
            StoreClientContext sameName =
                    FabricStores.client(fabric, server).random(new Random(7)).conclude();
            StoreClientContext again =
                    FabricStores.client(fabric, server).random(new Random(7)).conclude();
            try (VerbsDevice device = machine.open(Map.of());
                    BlockingStore old = new BlockingStore(DESIGN.connect(device, sameName));
                    BlockingStore other = new BlockingStore(DESIGN.connect(
                            device, FabricStores.client(fabric, server).conclude()))) {
                assertTrue(old.put(KEY, FIRST));
                try (BlockingStore store = new BlockingStore(DESIGN.connect(device, again))) {
                    assertArrayEquals(FIRST, store.get(KEY).orElseThrow());
                    assertTrue(other.put(KEY, SECOND));
                    assertEquals(0, other.client().counters().get(StoreCounter.RECONNECTS));
                    assertArrayEquals(SECOND, old.get(KEY).orElseThrow());
                    assertEquals(1, old.client().counters().get(StoreCounter.RECONNECTS));
                }
            }
            running.stop();
        });
    }
}
