package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What Pilaf and Pilaf-VO promise, cell by cell. That they are linearizable, and prove a miss but as published, is in
 * {@link PilafRacesTest}.
 */
class PilafPromisesTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OTHER = "other".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(100);

    private interface Body {
        void run(Fabric fabric, FabricNode server, BlockingStore store) throws Exception;
    }

    private static StoreClient connect(
            StoreDesign design, Protocol protocol, Fabric fabric, FabricNode server, VerbsDevice device) {
        return design.connect(
                device,
                FabricStores.client(fabric, server)
                        .protocol(protocol)
                        .timeoutNs(TIMEOUT_NS)
                        .conclude());
    }

    private static FabricStores.RunningServer serve(
            StoreDesign design, Protocol protocol, Fabric fabric, FabricNode server) {
        return FabricStores.serve(
                fabric,
                server,
                design,
                context -> context.protocol(protocol).options(Map.of("entries", "6", "extents", "14")));
    }

    private static void run(StoreDesign design, Protocol protocol, Body body) {
        Fabric fabric = Fabric.ofSeed(11);
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        fabric.run(client, () -> {
            var running = serve(design, protocol, fabric, server);
            try (VerbsDevice device = client.open(Map.of());
                    BlockingStore store = new BlockingStore(connect(design, protocol, fabric, server, device))) {
                assertTrue(store.put(KEY, VALUE));
                body.run(fabric, server, store);
            }
            running.stop();
        });
    }

    private static Outcome outcome(StoreClient client, boolean started) {
        assertTrue(started);
        Outcome[] last = new Outcome[1];
        int results = client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> last[0] = outcome);
        assertEquals(1, results);
        return last[0];
    }

    @ParameterizedTest
    @CsvSource({"pilaf, SAFE", "pilaf, PAPER", "pilaf-vo, SAFE", "pilaf-vo, PAPER"})
    void shouldGetWithoutTheServersApplicationIfPromised(String name, Protocol protocol) {
        StoreDesign design = StoreDesigns.named(name);
        Promises promises = design.promises(protocol);
        run(design, protocol, (fabric, server, store) -> {
            StoreClient client = store.client();
            server.pauseProcesses(PAUSE_NS);
            Outcome got = outcome(client, client.startGet(KEY, 1));
            assertEquals(promises.getsWithoutServer() ? Outcome.FOUND : Outcome.LOST, got);
            Outcome missed = outcome(client, client.startGet(OTHER, 2));
            assertEquals(promises.getsWithoutServer() ? Outcome.MISSING : Outcome.LOST, missed);
            Outcome put = outcome(client, client.startPut(OTHER, MemorySegment.ofArray(VALUE), 3));
            assertEquals(promises.putsWithoutServer() ? Outcome.STORED : Outcome.LOST, put);
            fabric.scheduler().sleep(PAUSE_NS);
            assertTrue(store.get(KEY).isPresent());
            assertTrue(store.get(OTHER).isPresent(), "the PUT whose answer came too late");
        });
    }

    /** Requests without an answer hold slots until the server wakes: GETs by READ need none. */
    @ParameterizedTest
    @CsvSource({"pilaf, SAFE", "pilaf, PAPER", "pilaf-vo, SAFE", "pilaf-vo, PAPER"})
    void shouldGoOnWhenManyRequestsHaveNoAnswer(String name, Protocol protocol) {
        run(StoreDesigns.named(name), protocol, (fabric, server, store) -> {
            StoreClient client = store.client();
            server.pauseProcesses(PAUSE_NS);
            for (int i = 0; i < 3 * client.window(); i++) {
                assertEquals(Outcome.LOST, outcome(client, client.startPut(OTHER, MemorySegment.ofArray(VALUE), i)));
            }
            if (name.equals("pilaf")) {
                assertTrue(store.get(KEY).isPresent());
            }
            fabric.scheduler().sleep(PAUSE_NS);
            for (int i = 0; i < 3 * client.window(); i++) {
                assertTrue(store.put(KEY, VALUE));
            }
        });
    }

    /** What a handler starts while others are told that they are lost is not lost with them. */
    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldLetHandlersStartOperationsAtAReconnect(String name) {
        StoreDesign design = StoreDesigns.named(name);
        Fabric fabric = Fabric.ofSeed(11);
        FabricNode server = fabric.node("server");
        FabricNode machine = fabric.node("client");
        fabric.run(machine, () -> {
            var running = serve(design, Protocol.SAFE, fabric, server);
            try (VerbsDevice device = machine.open(Map.of());
                    StoreClient client = connect(design, Protocol.SAFE, fabric, server, device)) {
                server.pauseProcesses(TIMEOUT_NS / 4);
                int puts = client.window() / 2;
                for (int i = 0; i < puts; i++) {
                    assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), i));
                }
                running.stop();
                running = serve(design, Protocol.SAFE, fabric, server);
                int[] lost = new int[1];
                while (client.outstanding() > 0) {
                    int ignored = client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> {
                        if (tag >= puts) {
                            assertEquals(Outcome.STORED, outcome, "begun by a handler");
                        } else {
                            lost[0] += outcome == Outcome.LOST ? 1 : 0;
                            for (int i = 1; i <= 2 && client.outstanding() < client.window(); i++) {
                                assertTrue(client.startPut(OTHER, MemorySegment.ofArray(VALUE), puts + tag));
                            }
                        }
                    });
                }
                assertTrue(lost[0] > 0, "nothing was lost");
            }
            running.stop();
        });
    }

    /** Requests that end while there is no server leave their message slots to others. */
    @ParameterizedTest
    @CsvSource({"pilaf, SAFE", "pilaf, PAPER", "pilaf-vo, SAFE", "pilaf-vo, PAPER"})
    void shouldHaveAllItsSlotsAfterATimeWithoutAServer(String name, Protocol protocol) {
        StoreDesign design = StoreDesigns.named(name);
        Fabric fabric = Fabric.ofSeed(11);
        FabricNode server = fabric.node("server");
        FabricNode machine = fabric.node("client");
        fabric.run(machine, () -> {
            var running = serve(design, protocol, fabric, server);
            try (VerbsDevice device = machine.open(Map.of());
                    BlockingStore store = new BlockingStore(connect(design, protocol, fabric, server, device))) {
                StoreClient client = store.client();
                server.pauseProcesses(TIMEOUT_NS / 4);
                for (int i = 0; i < client.window(); i++) {
                    assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), i));
                }
                running.stop();
                while (client.outstanding() > 0) {
                    int results = client.await(
                            PAUSE_NS, (tag, outcome, memory, offset, length) -> assertEquals(Outcome.LOST, outcome));
                    assertTrue(results > 0);
                }
                running = serve(design, protocol, fabric, server);
                fabric.scheduler().sleep(TimeUnit.SECONDS.toNanos(1)); // clients wait a little before they try again
                for (int i = 0; i < 2 * client.window(); i++) {
                    assertTrue(store.put(KEY, VALUE));
                    assertTrue(store.get(KEY).isPresent());
                }
            }
            running.stop();
        });
    }

    @ParameterizedTest
    @CsvSource({"pilaf, SAFE", "pilaf, PAPER", "pilaf-vo, SAFE", "pilaf-vo, PAPER"})
    void shouldSurviveAClientsDeathAtAnyPoint(String name, Protocol protocol) {
        StoreDesign design = StoreDesigns.named(name);
        assertTrue(design.promises(protocol).survivesClientDeath());
        for (long afterNs = 0; afterNs < 400_000; afterNs += 20_000) {
            long dyingNs = afterNs;
            Fabric fabric = Fabric.ofSeed(afterNs);
            FabricNode server = fabric.node("server");
            FabricNode client = fabric.node("client");
            FabricNode victim = fabric.node("victim");
            fabric.run(client, () -> {
                var running = serve(design, protocol, fabric, server);
                SimulatedThread dying = victim.start("victim", () -> {
                    try (VerbsDevice device = victim.open(Map.of());
                            BlockingStore store =
                                    new BlockingStore(connect(design, protocol, fabric, server, device))) {
                        while (store.put(KEY, new byte[1000])) {
                            assertTrue(store.get(KEY).isPresent());
                        }
                    }
                });
                fabric.scheduler().sleep(dyingNs);
                victim.kill();
                try (VerbsDevice device = client.open(Map.of());
                        BlockingStore store = new BlockingStore(connect(design, protocol, fabric, server, device))) {
                    assertTrue(store.put(KEY, VALUE));
                    assertEquals(VALUE.length, store.get(KEY).orElseThrow().length);
                }
                assertTrue(fabric.scheduler().until(dying::isEnded, PAUSE_NS));
                running.stop();
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pilaf", "pilaf-vo"})
    void shouldPromiseWhatItsPageSays(String name) {
        StoreDesign design = StoreDesigns.named(name);
        boolean byReads = name.equals("pilaf");
        assertEquals(
                new Promises(Consistency.LINEARIZABLE, true, byReads, false, true, false),
                design.promises(Protocol.SAFE));
        assertEquals(
                new Promises(
                        byReads ? Consistency.FALSE_MISSES : Consistency.LINEARIZABLE,
                        !byReads,
                        byReads,
                        false,
                        true,
                        false),
                design.promises(Protocol.PAPER));
    }
}
