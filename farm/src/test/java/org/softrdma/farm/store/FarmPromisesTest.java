package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.device.VerbsDevice;

/** Each cell of the design's promises, but those that {@link FarmRacesTest} and {@link LineVersionsTest} show. */
class FarmPromisesTest {
    private static final int DEATHS = 30 / Integer.getInteger("softrdma.sample", 1);
    private static final int VALUE = 100;
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final Map<String, String> SMALL =
            Map.of("buckets", "64", "region", Integer.toString(1 << 18), "block", "8192", "regions", "2");

    private static byte[] key(int number) {
        return ("key" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(int number) {
        byte[] value = new byte[number % VALUE];
        Arrays.fill(value, (byte) number);
        return value;
    }

    private interface Body {
        void run(FarmFabric farm, BlockingStore store) throws Exception;
    }

    private static void run(Protocol protocol, Body body) {
        new FarmFabric(3, FabricSettings.DEFAULT, protocol, SMALL, VALUE).run(farm -> {
            try (VerbsDevice device = farm.testNode().open(Map.of());
                    StoreClient client = farm.connect(device, context -> context.timeoutNs(LIMIT_NS));
                    BlockingStore store = new BlockingStore(client)) {
                body.run(farm, store);
            }
        });
    }

    private static void requireValue(BlockingStore store, int number) {
        HexFormat hex = HexFormat.of();
        assertEquals(
                Optional.of(hex.formatHex(value(number))),
                store.get(key(number)).map(hex::formatHex));
    }

    @ParameterizedTest
    @EnumSource(Protocol.class)
    void shouldKeepWhatWasPutAndMissWhatWasNot(Protocol protocol) {
        run(protocol, (farm, store) -> {
            for (int number = 1; number < 200; number++) {
                assertTrue(store.put(key(number), value(number)));
            }
            for (int number = 1; number < 200; number += 3) {
                assertTrue(store.remove(key(number)));
                assertFalse(store.remove(key(number)));
            }
            for (int number = 1; number < 200; number++) {
                if (number % 3 == 1) {
                    assertTrue(store.get(key(number)).isEmpty());
                } else {
                    requireValue(store, number);
                }
            }
            assertTrue(store.get(key(1000)).isEmpty());
            assertFalse(new FarmDesign().promises(protocol).lossy());
        });
    }

    @ParameterizedTest
    @EnumSource(Protocol.class)
    void shouldGetAndNotPutWhileTheServersApplicationStandsStill(Protocol protocol) {
        run(protocol, (farm, store) -> {
            assertTrue(store.put(key(1), value(1)));
            farm.server().pauseProcesses(5 * LIMIT_NS);

            requireValue(store, 1);
            assertTrue(store.get(key(2)).isEmpty());
            assertThrows(StoreException.class, () -> store.put(key(2), value(2)));
            assertEquals(Outcome.LOST, store.lastOutcome());
            requireValue(store, 1);

            farm.fabric().scheduler().sleep(5 * LIMIT_NS);
            requireValue(store, 2); // it was in the ring, and takes effect late
            Promises promises = new FarmDesign().promises(protocol);
            assertTrue(promises.getsWithoutServer());
            assertFalse(promises.putsWithoutServer());
        });
    }

    @Test
    void shouldNotTakeALateReplyForThatOfTheNextRequest() {
        run(Protocol.SAFE, (farm, store) -> {
            assertTrue(store.put(key(1), value(1)));
            farm.server().pauseProcesses(LIMIT_NS + LIMIT_NS / 2);

            assertThrows(StoreException.class, () -> store.put(key(1), value(2)));
            assertFalse(store.remove(key(3)));
        });
    }

    @Test
    void shouldRecoverFromARestartAndShowNothingOfTheOldLife() {
        run(Protocol.SAFE, (farm, store) -> {
            assertTrue(store.put(key(1), value(1)));
            requireValue(store, 1);

            farm.stopServer();
            farm.startServer();

            assertTrue(store.get(key(1)).isEmpty());
            assertTrue(store.put(key(2), value(2)));
            requireValue(store, 2);
            assertEquals(1, store.client().counters().get(StoreCounter.RECONNECTS));
        });
    }

    @Test
    void shouldAnswerLostWhileThereIsNoServerAndRecoverWhenThereIs() {
        run(Protocol.SAFE, (farm, store) -> {
            assertTrue(store.put(key(1), value(1)));
            farm.stopServer();

            assertThrows(StoreException.class, () -> store.get(key(1)));
            assertThrows(StoreException.class, () -> store.put(key(1), value(1)));
            assertEquals(Outcome.LOST, store.lastOutcome());

            farm.startServer();
            assertTrue(store.put(key(3), value(3)));
            requireValue(store, 3);
        });
    }

    /** Requests that end while there is no server leave their places to others. */
    @Test
    void shouldHaveAllItsPlacesAfterATimeWithoutAServer() {
        run(Protocol.SAFE, (farm, store) -> {
            StoreClient client = store.client();
            farm.server().pauseProcesses(LIMIT_NS / 4);
            for (int i = 0; i < client.window(); i++) {
                assertTrue(client.startPut(key(i), MemorySegment.ofArray(value(i)), i));
            }
            farm.stopServer();
            while (client.outstanding() > 0) {
                int results = client.await(10 * LIMIT_NS, (tag, outcome, memory, at, length) -> {});
                assertTrue(results > 0);
            }
            farm.startServer();
            farm.fabric().scheduler().sleep(LIMIT_NS); // clients wait a little before they try again
            assertTrue(store.get(key(99)).isEmpty()); // a PUT that is sent before the end is noticed would be LOST
            for (int i = 1; i < 2 * client.window(); i++) {
                assertTrue(store.put(key(i), value(i)));
                requireValue(store, i);
            }
        });
    }

    /** The client dies with requests in the ring, READs under way and replies that nobody takes. */
    @Tag("sampled")
    @ParameterizedTest
    @EnumSource(Protocol.class)
    void shouldServeOthersWhenAClientDies(Protocol protocol) {
        for (long seed = 0; seed < DEATHS; seed++) {
            FarmFabric fabric = new FarmFabric(seed, FabricSettings.DEFAULT, protocol, SMALL, VALUE);
            FabricNode victim = fabric.fabric().node("victim");
            fabric.run(farm -> {
                SimulatedThread process = victim.start("victim", () -> {
                    try (VerbsDevice device = victim.open(Map.of());
                            BlockingStore store = new BlockingStore(farm.connect(device, context -> {}))) {
                        for (int number = 1; true; number++) {
                            store.put(key(number % 50), value(number % 50));
                            store.get(key(number % 50));
                        }
                    }
                });
                farm.fabric()
                        .scheduler()
                        .sleep(1 + farm.fabric().scheduler().choices().below(3_000_000));
                victim.kill();
                farm.until(process::isEnded);
                try (VerbsDevice device = farm.testNode().open(Map.of());
                        BlockingStore store = new BlockingStore(farm.connect(device, context -> {}))) {
                    for (int number = 0; number < 70; number++) { // the victim's keys first: nothing of them is locked
                        HexFormat hex = HexFormat.of();
                        String left = store.get(key(number)).map(hex::formatHex).orElse("");
                        assertTrue(left.isEmpty() || left.equals(hex.formatHex(value(number))), left);
                        assertTrue(store.put(key(number), value(number)));
                        requireValue(store, number);
                    }
                    for (int number = 0; number < 50; number++) {
                        assertTrue(store.remove(key(number)));
                        assertTrue(store.get(key(number)).isEmpty());
                    }
                }
            });
        }
        assertTrue(new FarmDesign().promises(protocol).survivesClientDeath());
    }

    @Test
    void shouldBeFoundByItsName() {
        assertEquals(FarmDesign.class, StoreDesigns.named("farm").getClass());
    }

    @Test
    void shouldRefuseAClientOfTheOtherProtocol() {
        FarmFabric other = new FarmFabric(1, FabricSettings.DEFAULT, Protocol.SAFE, SMALL, VALUE);
        other.run(farm -> {
            try (VerbsDevice device = farm.testNode().open(Map.of())) {
                assertThrows(
                        StoreException.class, () -> farm.connect(device, context -> context.protocol(Protocol.PAPER)));
                assertThrows(
                        StoreException.class, () -> farm.connect(device, context -> context.maxValueLength(VALUE + 1)));
            }
        });
    }
}
