package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.verbs.device.VerbsDevice;

/** One client, and one node or several. */
class NessieOnFabricTest {
    private static final long REUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private interface Body {
        void run(BlockingStore store, NessieNodes nodes, Fabric fabric) throws Exception;
    }

    private static void run(int count, Protocol protocol, Map<String, String> options, Body body) {
        Fabric fabric = Fabric.ofSeed(7);
        run(fabric, fabric.node("client"), count, protocol, options, body);
    }

    private static void run(
            Fabric fabric, FabricNode client, int count, Protocol protocol, Map<String, String> options, Body body) {
        NessieNodes nodes = new NessieNodes(fabric, count, protocol, options, context -> context);
        fabric.run(client, () -> {
            nodes.start();
            Map<String, String> settings = Map.of("stock", "4", "home", Integer.toString(count - 1));
            try (VerbsDevice device = client.open(Map.of());
                    BlockingStore store = new BlockingStore(new NessieDesign()
                            .connect(device, nodes.client().options(settings).conclude()))) {
                body.run(store, nodes, fabric);
            }
            nodes.stop();
        });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @CsvSource({"1, SAFE", "3, SAFE", "1, PAPER", "3, PAPER"})
    void shouldDoAsAMap(int count, Protocol protocol) {
        Map<String, String> options = Map.of("index", "5", "entries", "7", "reuse-ms", "100");
        run(count, protocol, options, (store, nodes, fabric) -> {
            Map<String, byte[]> model = new HashMap<>();
            Random random = new Random(1);
            for (int i = 0; i < 2000; i++) {
                String key = "key" + random.nextInt(28);
                byte[] was = model.get(key);
                switch (random.nextInt(3)) {
                    case 0 -> {
                        byte[] value = new byte[random.nextInt(200)];
                        random.nextBytes(value);
                        while (!store.put(bytes(key), value)) {
                            fabric.scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(10)); // entries rest
                        }
                        model.put(key, value);
                    }
                    case 1 -> {
                        assertEquals(was != null, store.remove(bytes(key)), key);
                        model.remove(key);
                    }
                    default -> {
                        Optional<byte[]> got = store.get(bytes(key));
                        assertEquals(was != null, got.isPresent(), key);
                        got.ifPresent(value -> assertArrayEquals(was, value));
                    }
                }
            }
            long pairs = 0;
            for (int i = 0; i < count; i++) {
                pairs += nodes.server(i).server().space().pairs();
            }
            assertEquals(model.size(), pairs);
        });
    }

    @Test
    void shouldMoveKeysUntilTheTableIsNearlyFull() {
        Map<String, String> options = Map.of("index", "7", "entries", "9", "reuse-ms", "1");
        run(1, Protocol.SAFE, options, (store, nodes, fabric) -> {
            int stored = 0;
            while (store.put(bytes("key" + stored), bytes("value" + stored))) {
                stored++;
            }
            assertEquals(Outcome.FULL, store.lastOutcome());
            assertTrue(stored > 108, "full at " + stored + " of 128");
            for (int i = 0; i < stored; i++) {
                assertArrayEquals(
                        bytes("value" + i), store.get(bytes("key" + i)).orElseThrow());
            }
            assertFalse(store.get(bytes("key" + stored)).isPresent());
            assertEquals(stored, nodes.server(0).server().space().pairs());
            assertTrue(store.put(bytes("key0"), bytes("again")), "another value needs no other slot");
        });
    }

    @Test
    void shouldRefuseWithoutEntriesUntilSomeHaveRested() {
        Map<String, String> options = Map.of("index", "6", "entries", "3", "reuse-ms", "1");
        run(1, Protocol.SAFE, options, (store, nodes, fabric) -> {
            int stored = 0;
            while (store.put(bytes("key" + stored), bytes("v"))) {
                stored++;
            }
            assertEquals(7, stored);
            assertEquals(
                    stored * (long) bytes("key0v").length,
                    nodes.server(0).server().space().dataBytes());
            assertTrue(store.remove(bytes("key0")));
            assertFalse(store.put(bytes("another"), bytes("v")), "an entry must rest");
            fabric.scheduler().sleep(2 * REUSE_NS);
            assertTrue(store.put(bytes("another"), bytes("v")));
        });
    }

    @Test
    void shouldFindEntriesInTheCache() {
        Map<String, String> options = Map.of("index", "6", "entries", "6");
        run(1, Protocol.SAFE, options, (store, nodes, fabric) -> {
            assertTrue(store.put(bytes("key"), bytes("value")));
            assertArrayEquals(bytes("value"), store.get(bytes("key")).orElseThrow());
            long reads = store.client().counters().get(StoreCounter.READS);
            assertEquals(0, store.client().counters().get(StoreCounter.CACHE_HITS));
            assertArrayEquals(bytes("value"), store.get(bytes("key")).orElseThrow());
            assertEquals(1, store.client().counters().get(StoreCounter.CACHE_HITS));
            assertEquals(reads + 1, store.client().counters().get(StoreCounter.READS), "the word alone");
            assertTrue(store.put(bytes("key"), bytes("another")));
            assertArrayEquals(bytes("another"), store.get(bytes("key")).orElseThrow());
        });
    }

    /** A node that dies takes its data table with it: words that name its entries are as good as empty. */
    @Test
    void shouldTakeWordsForEmptyThatNameEntriesOfADeadNode() {
        Map<String, String> options = Map.of("index", "4", "entries", "7", "reuse-ms", "1");
        run(2, Protocol.SAFE, options, (store, nodes, fabric) -> {
            int keys = 20;
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < keys; i++) {
                    assertTrue(store.put(bytes("key" + i), bytes("round" + round)), "key " + i);
                }
                for (int i = 0; i < keys; i++) {
                    assertArrayEquals(
                            bytes("round" + round), store.get(bytes("key" + i)).orElseThrow());
                }
                nodes.crash(1); // the home of this client
                for (int i = 0; i < keys; i++) {
                    assertFalse(store.get(bytes("key" + i)).isPresent(), "a value of the old life");
                }
            }
        });
    }

    /**
     * As published, an entry that is used again within T of its end would be taken for what it was, so that operations
     * abort after half of T. In SAFE entries tell what they are, and operations take the time that they are given.
     */
    @ParameterizedTest
    @CsvSource({"PAPER, true", "SAFE, false"})
    void shouldAbortWhatTakesHalfTheTimeOfReuseAsPublished(Protocol protocol, boolean aborts) {
        long abortNs = TimeUnit.MILLISECONDS.toNanos(50);
        Map<String, String> options = Map.of("index", "5", "entries", "7", "reuse-ms", "100");
        Fabric ofSeed = Fabric.ofSeed(7);
        FabricNode machine = ofSeed.node("client");
        run(ofSeed, machine, 2, protocol, options, (store, nodes, fabric) -> {
            List<Predicate<StoreClient>> starts = List.of(
                    client -> client.startGet(bytes("key"), 0),
                    client -> client.startPut(bytes("key"), MemorySegment.ofArray(bytes("value")), 0),
                    client -> client.startRemove(bytes("key"), 0));
            for (Predicate<StoreClient> start : starts) {
                assertTrue(store.put(bytes("key"), bytes("value")), "behind what was aborted, by new connections");
                long beganNs = fabric.clock().nanoTime();
                for (int node = 0; node < 2; node++) {
                    fabric.partition(machine, nodes.node(node), 4 * abortNs);
                }
                assertTrue(start.test(store.client()));
                Outcome[] ended = new Outcome[1];
                long[] endedNs = new long[1];
                int ignored = store.client().await(TimeUnit.HOURS.toNanos(1), (tag, outcome, memory, at, length) -> {
                    ended[0] = outcome;
                    endedNs[0] = fabric.clock().nanoTime();
                });
                long tookNs = endedNs[0] - beganNs;
                assertEquals(aborts, ended[0] == Outcome.LOST, () -> ended[0] + " after " + tookNs + " ns");
                assertTrue(
                        aborts ? tookNs >= abortNs && tookNs < 2 * abortNs : tookNs >= 4 * abortNs,
                        () -> ended[0] + " after " + tookNs + " ns");
                fabric.scheduler().sleep(8 * abortNs);
            }
        });
    }
}
