package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A worker whose requests reach one node at once and the other late, so that a key can move behind its look, or its
 * own move can come late. No seed has to find that: the table is filled so that a known PUT makes a known key move.
 *
 * <p>The key's first slot is at node 0 and the others at node 1. Three more keys share one set of slots, to which the
 * key's first slot belongs, and no other of its slots: two fill what is left of the set, and the third makes the key
 * move to node 1.
 */
class NessieSlowLinkTest {
    private static final long ROUND_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int MOST_STEPS = 60;
    private static final int LOG_INDEX = 2;
    private static final String OLD = "old";
    private static final String NEW = "new";
    private static final String OTHER = "other";

    private final Keys keys = keys();

    private record Keys(String moving, String first, String second, String pushing) {}

    private static Keys keys() {
        NessieHash hash = new NessieHash(new NessieShape(2, LOG_INDEX, 5, 3, 7, true, 250, 16, 0));
        Map<Set<Integer>, List<String>> bySlots = new HashMap<>();
        List<String> movable = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            String name = "key" + i;
            int[] slots = slots(hash, name);
            bySlots.computeIfAbsent(setOf(slots), key -> new ArrayList<>()).add(name);
            if (hash.node(slots[0]) == 0 && hash.node(slots[1]) == 1 && hash.node(slots[2]) == 1) {
                movable.add(name);
            }
        }
        for (String name : movable) {
            int[] slots = slots(hash, name);
            for (Map.Entry<Set<Integer>, List<String>> entry : bySlots.entrySet()) {
                Set<Integer> set = entry.getKey();
                List<String> same = entry.getValue();
                if (set.contains(slots[0]) && !set.contains(slots[1]) && !set.contains(slots[2]) && same.size() > 2) {
                    return new Keys(name, same.get(0), same.get(1), same.get(2));
                }
            }
        }
        throw new AssertionError("no keys with such slots");
    }

    private static int[] slots(NessieHash hash, String name) {
        int[] slots = new int[3];
        hash.slots(NessieHash.of(MemorySegment.ofArray(bytes(name)), 0, name.length()), slots);
        return slots;
    }

    private static Set<Integer> setOf(int[] slots) {
        return Arrays.stream(slots).boxed().collect(Collectors.toSet());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private interface Body {
        void run(Run run) throws Exception;
    }

    /** A worker with slow links, a store by another worker, and the three keys in the table. */
    private final class Run {
        private final Fabric fabric;
        private final FabricNode machine;
        private final NessieNodes nodes;
        private final StoreClient slow;
        private final BlockingStore store;
        private final Outcome[] ended = new Outcome[1];

        Run(Fabric fabric, FabricNode machine, NessieNodes nodes, StoreClient slow, BlockingStore store) {
            this.fabric = fabric;
            this.machine = machine;
            this.nodes = nodes;
            this.slow = slow;
            this.store = store;
            assertTrue(store.put(bytes(keys.moving), bytes(OLD)));
            assertTrue(store.put(bytes(keys.first), bytes(OTHER)));
            assertTrue(store.put(bytes(keys.second), bytes(OTHER)));
        }

        /** What the slow worker sends to a node arrives only after a while, in which the body runs. */
        void whileSlow(int node, Runnable begin, Runnable body) {
            long beganNs = fabric.clock().nanoTime();
            fabric.partition(machine, nodes.node(node), 4 * ROUND_NS);
            begin.run();
            while (fabric.clock().nanoTime() - beganNs < ROUND_NS) {
                poll();
            }
            body.run();
            assertTrue(fabric.clock().nanoTime() - beganNs < 4 * ROUND_NS, "what was to be late was not");
        }

        void poll() {
            int results = slow.poll((tag, outcome, memory, offset, length) -> ended[0] = outcome);
            fabric.idleStrategy().idle(results);
        }

        Outcome outcome() {
            while (slow.outstanding() > 0) {
                poll();
            }
            return ended[0];
        }

        String value(String key) {
            return store.get(bytes(key))
                    .map(value -> new String(value, StandardCharsets.US_ASCII))
                    .orElse("");
        }
    }

    private void run(long seed, Body body) {
        Fabric fabric = Fabric.ofSeed(seed);
        FabricNode slow = fabric.node("slow");
        FabricNode other = fabric.node("other");
        Map<String, String> options = Map.of("index", "" + LOG_INDEX, "entries", "6");
        NessieNodes nodes = new NessieNodes(fabric, 2, Protocol.SAFE, options, context -> context.maxValueLength(16));
        fabric.run(other, () -> {
            nodes.start();
            try (VerbsDevice first = slow.open(Map.of());
                    StoreClient client = client(nodes, first);
                    VerbsDevice second = other.open(Map.of());
                    BlockingStore store = new BlockingStore(client(nodes, second))) {
                body.run(new Run(fabric, slow, nodes, client, store));
            }
            nodes.stop();
        });
    }

    private static StoreClient client(NessieNodes nodes, VerbsDevice device) {
        return new NessieDesign()
                .connect(
                        device,
                        nodes.client()
                                .maxValueLength(16)
                                .timeoutNs(10 * TimeUnit.SECONDS.toNanos(1))
                                .options(Map.of("home", "1", "stock", "8"))
                                .conclude());
    }

    /** The look has passed the slot where the key arrives, and finds the one that it has left empty. */
    @Test
    void shouldRemoveAKeyThatMovesBehindTheLook() {
        run(1, run -> {
            run.whileSlow(
                    0,
                    () -> assertTrue(run.slow.startRemove(bytes(keys.moving), 0)),
                    () -> assertTrue(run.store.put(bytes(keys.pushing), bytes(OTHER))));
            assertEquals(Outcome.REMOVED, run.outcome());
            assertEquals("", run.value(keys.moving));
        });
    }

    /** The same look of a PUT: it takes the slot that the key has left, and must empty the one where it is now. */
    @Test
    void shouldLeaveNoOldValueOfAKeyThatMovesBehindTheLook() {
        run(2, run -> {
            run.whileSlow(
                    0,
                    () -> assertTrue(run.slow.startPut(bytes(keys.moving), MemorySegment.ofArray(bytes(NEW)), 0)),
                    () -> {
                        assertTrue(run.store.put(bytes(keys.pushing), bytes(OTHER)));
                        assertTrue(run.store.remove(bytes(keys.pushing))); // the slot that the key has left is empty
                    });
            assertEquals(Outcome.STORED, run.outcome());
            assertEquals(NEW, run.value(keys.moving));
            assertTrue(run.store.put(
                    bytes(keys.pushing), bytes(OTHER))); // the new value moves behind where the old one was
            assertEquals(NEW, run.value(keys.moving));
            assertTrue(run.store.remove(bytes(keys.pushing)));
            assertTrue(run.store.remove(bytes(keys.moving)));
            assertEquals("", run.value(keys.moving));
        });
    }

    /** Behind each batch of requests of a PUT that makes the key move: from there on node 1 hears of it late. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotBringBackAKeyThatALateMoverPlaces(boolean removing) {
        boolean[] over = new boolean[1];
        for (int step = 1; !over[0]; step++) {
            int stop = step;
            assertTrue(step < MOST_STEPS, "the PUT does not end");
            run(3, run -> {
                assertTrue(run.slow.startPut(bytes(keys.pushing), MemorySegment.ofArray(bytes(OTHER)), 0));
                long last = run.slow.counters().get(StoreCounter.ROUND_TRIPS) + stop - 1;
                while (run.slow.outstanding() > 0 && run.slow.counters().get(StoreCounter.ROUND_TRIPS) < last) {
                    run.poll();
                }
                over[0] = run.slow.outstanding() == 0;
                run.whileSlow(1, () -> {}, () -> {
                    if (removing) {
                        assertTrue(run.store.remove(bytes(keys.moving)), "late from batch " + stop);
                    } else {
                        assertTrue(run.store.put(bytes(keys.moving), bytes(NEW)), "late from batch " + stop);
                    }
                });
                assertEquals(Outcome.STORED, run.outcome());
                assertEquals(removing ? "" : NEW, run.value(keys.moving), "late from batch " + stop);
                assertEquals(!removing, run.store.remove(bytes(keys.moving)), "late from batch " + stop);
                assertFalse(run.store.get(bytes(keys.moving)).isPresent(), "late from batch " + stop);
                for (String key : List.of(keys.first, keys.second, keys.pushing)) {
                    assertEquals(OTHER, run.value(key), "late from batch " + stop);
                }
            });
        }
    }
}
