package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.verbs.device.VerbsDevice;

/** A worker stops behind the n-th batch of requests of a change, for each n, and another one goes on. */
class NessieStoppedWorkerTest {
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long ROUND_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int MOST_STEPS = 60;
    private static final int MORE = 8;
    private static final String OLD = "old";
    private static final String NEW = "new";

    private byte[] key = bytes("key");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private interface Body {
        void run(StoreClient stopping, BlockingStore other, Fabric fabric) throws Exception;
    }

    private static void run(long seed, Protocol protocol, Map<String, String> options, Body body) {
        Fabric fabric = Fabric.ofSeed(seed);
        FabricNode stopping = fabric.node("stopping");
        FabricNode other = fabric.node("other");
        NessieNodes nodes = new NessieNodes(fabric, 2, protocol, options, context -> context.maxValueLength(16));
        fabric.run(other, () -> {
            nodes.start();
            try (VerbsDevice first = stopping.open(Map.of());
                    StoreClient stopped = client(nodes, first, "0");
                    VerbsDevice second = other.open(Map.of());
                    BlockingStore store = new BlockingStore(client(nodes, second, "1"))) {
                body.run(stopped, store, fabric);
            }
            nodes.stop();
        });
    }

    private static StoreClient client(NessieNodes nodes, VerbsDevice device, String home) {
        return new NessieDesign()
                .connect(
                        device,
                        nodes.client()
                                .maxValueLength(16)
                                .timeoutNs(2 * TimeUnit.SECONDS.toNanos(1))
                                .options(Map.of("home", home))
                                .conclude());
    }

    /** Drives a client until it has posted so many batches more, and no farther. True if its operation has ended. */
    private static boolean stopBehind(StoreClient client, int batches, Fabric fabric, Outcome[] ended) {
        long last = client.counters().get(StoreCounter.ROUND_TRIPS) + batches - 1; // the first one has been posted
        while (client.outstanding() > 0 && client.counters().get(StoreCounter.ROUND_TRIPS) < last) {
            int results = client.poll((tag, outcome, memory, offset, length) -> ended[0] = outcome);
            fabric.idleStrategy().idle(results);
        }
        boolean isOver = client.outstanding() == 0;
        fabric.scheduler().sleep(ROUND_NS); // what is on its way takes place
        return isOver;
    }

    private static String value(BlockingStore store, byte[] name) {
        return store.get(name)
                .map(value -> new String(value, StandardCharsets.US_ASCII))
                .orElse("");
    }

    static IntStream runs() {
        return Integer.getInteger("softrdma.sample", 1) == 1 ? IntStream.of(0, 14, 114, 214, 314) : IntStream.of(0, 14);
    }

    /** A crowded table has no empty slot for most keys, so that PUTs make others move. */
    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("runs")
    void shouldReadTheOldValueOrTheNewWhereverAPutStops(int run) {
        int crowd = run % 100;
        key = bytes("key" + run / 100);
        for (boolean isThere : new boolean[] {true, false}) {
            boolean[] over = new boolean[1];
            for (int step = 1; !over[0]; step++) {
                int stop = step;
                assertTrue(step < MOST_STEPS, "the PUT does not end");
                run(run, Protocol.SAFE, Map.of("index", "3", "entries", "8"), (stopping, store, fabric) -> {
                    int stored = fill(store, crowd, isThere);
                    assertTrue(stopping.startPut(key, MemorySegment.ofArray(bytes(NEW)), 0));
                    Outcome[] ended = new Outcome[1];
                    over[0] = stopBehind(stopping, stop, fabric, ended);
                    checkWhatIsThere(store, isThere, stored, fabric, "stopped at " + stop);
                    for (int i = 0; i < stored; i++) {
                        changeOther(store, i);
                    }
                    checkThatItGoesOn(store, stopping, ended, fabric, "stopped at " + stop);
                    for (int i = 0; i < stored; i++) {
                        String expected = i % 2 == 0 ? "" : "again" + i;
                        assertEquals(expected, value(store, bytes("other" + i)), "stopped at " + stop);
                    }
                });
            }
        }
    }

    /** A key that may be about to move. */
    private static void changeOther(BlockingStore store, int i) {
        byte[] other = bytes("other" + i);
        if (i % 2 == 0) {
            assertTrue(store.remove(other));
        } else {
            assertTrue(store.put(other, bytes("again" + i)));
        }
    }

    private int fill(BlockingStore store, int crowd, boolean isThere) {
        if (isThere) {
            assertTrue(store.put(key, bytes(OLD)));
        }
        int stored = 0;
        while (stored < crowd && store.put(bytes("other" + stored), bytes("value" + stored))) {
            stored++;
        }
        return stored;
    }

    private void checkWhatIsThere(BlockingStore store, boolean isThere, int stored, Fabric fabric, String message) {
        long beganNs = fabric.clock().nanoTime();
        String seen = value(store, key);
        long tookNs = fabric.clock().nanoTime() - beganNs;
        assertTrue(tookNs < PATIENCE_NS + ROUND_NS, () -> message + ": readable only after " + tookNs + " ns");
        assertTrue(seen.equals(NEW) || seen.equals(isThere ? OLD : ""), () -> message + ": " + seen);
        assertEquals(seen, value(store, key), message);
        for (int i = 0; i < stored; i++) {
            assertEquals("value" + i, value(store, bytes("other" + i)), message);
        }
    }

    /** The worker wakes, and does not take back what came after it. */
    private void checkThatItGoesOn(
            BlockingStore store, StoreClient stopping, Outcome[] ended, Fabric fabric, String message) {
        boolean wasSeen = value(store, key).equals(NEW);
        assertTrue(store.put(key, bytes("third")), message);
        assertEquals("third", value(store, key), message);
        while (stopping.outstanding() > 0) {
            int ignored = stopping.await(HOUR_NS, (tag, outcome, memory, offset, length) -> ended[0] = outcome);
        }
        assertTrue(ended[0] == Outcome.STORED || ended[0] == Outcome.LOST, () -> message + ": " + ended[0]);
        fabric.scheduler().sleep(ROUND_NS);
        String now = value(store, key);
        assertTrue(now.equals("third") || (!wasSeen && now.equals(NEW)), () -> message + ": " + now);
        assertTrue(store.remove(key), message);
        assertFalse(store.get(key).isPresent(), message);
    }

    @Test
    void shouldReadTheOldValueOrNoneWhereverARemoveStops() {
        boolean[] over = new boolean[1];
        for (int step = 1; !over[0]; step++) {
            int stop = step;
            run(step, Protocol.SAFE, Map.of("index", "3", "entries", "8"), (stopping, store, fabric) -> {
                assertTrue(store.put(key, bytes(OLD)));
                assertTrue(stopping.startRemove(key, 0));
                Outcome[] ended = new Outcome[1];
                over[0] = stopBehind(stopping, stop, fabric, ended);
                String seen = value(store, key);
                assertTrue(seen.equals(OLD) || seen.isEmpty(), seen);
                assertTrue(store.put(key, bytes(NEW)));
                assertEquals(NEW, value(store, key));
            });
        }
    }

    /** A WRITE completes before it is there: no word may name its entry until then. */
    @Test
    void shouldNameNoEntryThatIsNotThere() {
        Fabric fabric = Fabric.ofSeed(5);
        FabricNode writing = fabric.node("writing");
        FabricNode machine = fabric.node("other");
        NessieNodes nodes = new NessieNodes(
                fabric, 2, Protocol.SAFE, Map.of("index", "3", "entries", "5"), context -> context.maxValueLength(16));
        key = keyOfNode(1);
        fabric.run(machine, () -> {
            nodes.start();
            try (VerbsDevice first = writing.open(Map.of());
                    StoreClient writer = client(nodes, first, "0");
                    VerbsDevice second = machine.open(Map.of());
                    BlockingStore store = new BlockingStore(client(nodes, second, "1"))) {
                assertTrue(store.put(key, bytes(OLD)));
                fabric.partition(writing, nodes.node(0), 2 * ROUND_NS);
                assertTrue(writer.startPut(key, MemorySegment.ofArray(bytes(NEW)), 0));
                Outcome[] ended = new Outcome[1];
                long beganNs = fabric.clock().nanoTime();
                while (fabric.clock().nanoTime() - beganNs < ROUND_NS) {
                    int results = writer.poll((tag, outcome, memory, offset, length) -> ended[0] = outcome);
                    fabric.idleStrategy().idle(results);
                }
                assertEquals(OLD, value(store, key));
                while (writer.outstanding() > 0) {
                    int ignored = writer.await(HOUR_NS, (tag, outcome, memory, offset, length) -> ended[0] = outcome);
                }
                assertEquals(Outcome.STORED, ended[0]);
                assertEquals(NEW, value(store, key));
            }
            nodes.stop();
        });
    }

    /** A key whose slots are all at one of two nodes. */
    private static byte[] keyOfNode(int node) {
        NessieHash hash = new NessieHash(new NessieShape(2, 3, 5, 3, 7, true, 250, 16, 0));
        int[] slots = new int[NessieShape.MOST_WAYS];
        for (int i = 0; ; i++) {
            byte[] name = bytes("key" + i);
            hash.slots(NessieHash.of(MemorySegment.ofArray(name), 0, name.length), slots);
            if (hash.node(slots[0]) == node && hash.node(slots[1]) == node && hash.node(slots[2]) == node) {
                return name;
            }
        }
    }

    /** Each of many workers dies in the middle of a PUT: what they have written and nobody can find is used again. */
    @Test
    void shouldUseAgainWhatDeadWorkersHaveLeft() {
        Fabric fabric = Fabric.ofSeed(3);
        FabricNode machine = fabric.node("other");
        Map<String, String> options = Map.of("index", "4", "entries", "5", "reuse-ms", "1");
        NessieNodes nodes = new NessieNodes(fabric, 1, Protocol.SAFE, options, context -> context.maxValueLength(16));
        fabric.run(machine, () -> {
            nodes.start();
            try (VerbsDevice device = machine.open(Map.of());
                    BlockingStore store = new BlockingStore(small(nodes, device))) {
                for (int i = 0; i < 100; i++) {
                    byte[] dyingKey = bytes("key" + i % 5);
                    try (StoreClient dying = small(nodes, device)) {
                        assertTrue(dying.startPut(dyingKey, MemorySegment.ofArray(bytes(NEW)), 0));
                        boolean ignored = stopBehind(dying, 2 + i % 2, fabric, new Outcome[1]);
                    }
                    fabric.scheduler().sleep(ROUND_NS);
                    int attempts = 0;
                    while (!store.put(dyingKey, bytes(OLD))) {
                        fabric.scheduler().sleep(ROUND_NS);
                        assertTrue(++attempts < 20, "no entries are left after " + i + " workers");
                    }
                    assertEquals(OLD, value(store, dyingKey));
                }
                for (int i = 0; i < MORE; i++) {
                    boolean ignored =
                            store.put(bytes("more" + i), bytes(NEW)); // and be it refused: it learns what is in doubt
                    fabric.scheduler().sleep(ROUND_NS);
                    assertTrue(store.put(bytes("more" + i), bytes(OLD)), "no entries are left");
                    fabric.scheduler().sleep(ROUND_NS);
                }
            }
            nodes.stop();
        });
    }

    private static StoreClient small(NessieNodes nodes, VerbsDevice device) {
        return new NessieDesign()
                .connect(
                        device,
                        nodes.client()
                                .maxValueLength(16)
                                .options(Map.of("stock", "4"))
                                .conclude());
    }

    /** As published, nobody can read a key whose PUT has stopped between its slot and its valid entry. */
    @Test
    void shouldBlockAKeyForEverAsPublished() {
        boolean[] over = new boolean[1];
        boolean[] blocked = new boolean[1];
        Map<String, String> options = Map.of("index", "3", "entries", "8", "reuse-ms", "3600000");
        for (int step = 1; !over[0]; step++) {
            int stop = step;
            run(step, Protocol.PAPER, options, (stopping, store, fabric) -> {
                assertTrue(store.put(key, bytes(OLD)));
                assertTrue(stopping.startPut(key, MemorySegment.ofArray(bytes(NEW)), 0));
                over[0] = stopBehind(stopping, stop, fabric, new Outcome[1]);
                try {
                    String ignored = value(store, key);
                } catch (StoreException e) {
                    blocked[0] = true;
                }
            });
        }
        assertTrue(blocked[0], "the published protocol lets others go on");
    }
}
