package org.softrdma.suites.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.client.SharedKvClient;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.turns.StepPoint;
import org.softrdma.verbs.device.VerbsDevice;

/** The store on the fabric: every kind of client, and one seed for one trace. */
class FabricStoreTest {
    private static final byte[] KEY = bytes("key");
    private static final byte[] OTHER = bytes("other");

    private final Fabric fabric = new Fabric(1, FabricSettings.DEFAULT.with(Grains.WORDS));
    private final FabricNode server = fabric.node("server");
    private final FabricNode client = fabric.node("client");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private void withStore(Registration registration, Use use) {
        fabric.run(server, () -> {
            try (FabricStore store = FabricStore.open(
                    fabric, server, context -> context.items(items -> items.registration(registration)))) {
                use.use(store);
            }
        });
    }

    private interface Use {
        void use(FabricStore store) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeGetsByRead(Registration registration) {
        withStore(registration, store -> {
            try (VerbsDevice device = client.open(Map.of());
                    KvClient reader = KvClient.connect(
                            device,
                            FabricStore.client(fabric, client, store.address())
                                    .protocol(KvProtocol.RDMA)
                                    .conclude());
                    KvClient writer = KvClient.connect(
                            FabricStore.client(fabric, client, store.address()).conclude())) {
                assertEquals(SetStatus.STORED, reader.set(KEY, 7, 0, bytes("value")));
                for (int i = 1; i <= 10; i++) {
                    assertArrayEquals(
                            bytes("value"), reader.get(KEY).orElseThrow().value());
                    assertEquals(i, reader.counters().hits());
                }
                writer.set(KEY, 0, 0, bytes("changed"));
                assertArrayEquals(
                        bytes("changed"), reader.get(KEY).orElseThrow().value());
                writer.delete(KEY);
                assertTrue(reader.get(KEY).isEmpty());
                byte[] large = new byte[300_000];
                writer.set(OTHER, 0, 0, large);
                assertArrayEquals(large, writer.get(OTHER).orElseThrow().value());
                assertArrayEquals(large, reader.get(OTHER).orElseThrow().value());
            }
        });
    }

    @Test
    void shouldNameTheStepPointsOfAChangeInTheTrace() {
        withStore(Registration.ARENA, store -> {
            try (KvClient writer = KvClient.connect(
                    FabricStore.client(fabric, client, store.address()).conclude())) {
                writer.set(KEY, 0, 0, bytes("value"));
                Iterator<String> steps = fabric.trace().last().iterator();
                for (StepPoint point :
                        List.of(StepPoint.FILL_BEGUN, StepPoint.KEY_WRITTEN, StepPoint.SEALED, StepPoint.PUBLISHED)) {
                    assertTrue(
                            isThereStill(steps, " " + point.name() + " "),
                            () -> point + " is not in "
                                    + String.join("\n", fabric.trace().last()));
                }
            }
        });
    }

    private static boolean isThereStill(Iterator<String> steps, String part) {
        while (steps.hasNext()) {
            if (steps.next().contains(part)) {
                return true;
            }
        }
        return false;
    }

    @Test
    void shouldExpireByVirtualTime() {
        withStore(Registration.ARENA, store -> {
            try (KvClient writer = KvClient.connect(
                    FabricStore.client(fabric, client, store.address()).conclude())) {
                writer.set(KEY, 0, 1000, KEY);
                assertTrue(writer.get(KEY).isPresent());
                fabric.scheduler().sleep(TimeUnit.SECONDS.toNanos(1001));
                assertTrue(writer.get(KEY).isEmpty());
                fabric.scheduler().sleep(TimeUnit.SECONDS.toNanos(61));
                assertEquals("0", writer.stats("").get("curr_items"));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void shouldLetManyProcessesShareAClient(Registration registration) {
        withStore(registration, store -> {
            try (VerbsDevice device = client.open(Map.of());
                    SharedKvClient shared = SharedKvClient.connect(
                            device,
                            FabricStore.client(fabric, client, store.address())
                                    .maxOutstanding(2)
                                    .conclude())) {
                int[] done = new int[1];
                for (int i = 0; i < 4; i++) {
                    byte[] key = bytes("key" + i);
                    client.start("user", () -> {
                        assertEquals(SetStatus.STORED, shared.set(key, 0, 0, key));
                        CompletableFuture<?> one = shared.submit(KvRequest.get(key));
                        CompletableFuture<?> other = shared.submit(KvRequest.get(key));
                        assertArrayEquals(
                                key, shared.get(key).map(KvItem::value).orElseThrow());
                        fabric.scheduler().until(() -> one.isDone() && other.isDone(), TimeUnit.SECONDS.toNanos(1));
                        assertTrue(one.isDone() && other.isDone());
                        done[0]++;
                    });
                }
                assertTrue(fabric.scheduler().until(() -> done[0] == 4, TimeUnit.SECONDS.toNanos(60)));
                assertEquals(KvProtocol.RDMA, shared.protocol());
            }
        });
    }

    @Test
    void shouldEndWithAServerThatIsKilled() {
        fabric.run(client, () -> {
            boolean[] opened = new boolean[1];
            FabricStore[] opening = new FabricStore[1];
            server.start("store", () -> {
                opening[0] = FabricStore.open(fabric, server, context -> context);
                opened[0] = true;
                fabric.scheduler().sleep(TimeUnit.HOURS.toNanos(1));
            });
            assertTrue(fabric.scheduler().until(() -> opened[0], TimeUnit.SECONDS.toNanos(1)));
            try (VerbsDevice device = client.open(Map.of());
                    SharedKvClient shared = SharedKvClient.connect(
                            device,
                            FabricStore.client(fabric, client, opening[0].address())
                                    .conclude())) {
                shared.set(KEY, 0, 0, KEY);
                server.kill();
                CompletableFuture<?> late = shared.submit(KvRequest.get(KEY));
                assertTrue(fabric.scheduler().until(late::isDone, TimeUnit.SECONDS.toNanos(30)));
                assertTrue(late.isCompletedExceptionally());
            }
        });
    }

    private static long hash(long seed, Registration registration) {
        return new StoreRace(new RaceSettings(seed, registration, false, false))
                .run()
                .hash();
    }

    @ParameterizedTest
    @EnumSource
    void shouldDoTheSameAgain(Registration registration) {
        long first = hash(7, registration);
        for (int i = 0; i < 20; i++) {
            assertEquals(first, hash(7, registration), "run " + i);
        }
        assertNotEquals(first, hash(8, registration));
        assertFalse(first == 0);
    }

    @ParameterizedTest
    @EnumSource
    void shouldDoTheSameWhereMemoryIsMappedElsewhere(Registration registration) {
        long alone = hash(7, registration);
        withStore(registration, store -> assertEquals(alone, hash(7, registration)));
    }
}
