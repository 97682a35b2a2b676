package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;

/**
 * A hash table over machines: what a lookup costs, and that it is a map whatever happens to a machine. {@code
 * -Dsoftrdma.seed=N} runs one race again.
 */
class FarmMapTest {
    private static final int KEY = 16;
    private static final int VALUE = 32;
    private static final int MACHINES = 3;
    private static final int SLOTS_OF_A_SHARD = 1600;
    private static final double OCCUPANCY = 0.9;
    /** Of sampling, as in FarmFiguresTest: this table is smaller. */
    private static final double TOLERANCE = 0.01;

    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Math.max(3, 24 / SAMPLE);
    private static final int CLIENTS = 3;
    private static final int OPERATIONS = 30;

    private static TableShape shape(int neighbourhood, int homes, int shards) {
        return new TableShape(neighbourhood, true, KEY, VALUE, true, homes, shards, 42);
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(KEY).putInt(number).array();
    }

    private static byte[] value(long number) {
        return ByteBuffer.allocate(VALUE).putLong(number).putLong(~number).array();
    }

    private static FarmCluster cluster(long seed, int machines, int replication) {
        return new FarmCluster(seed, FabricSettings.DEFAULT, machines, replication, Set.of())
                .functions(FarmMap.FUNCTIONS);
    }

    private static long reads(FarmCluster cluster) {
        long reads = 0;
        for (int machine = 0; machine < MACHINES; machine++) {
            reads += cluster.counter(machine, "responderReads");
        }
        return reads;
    }

    /** Each of three machines puts a third of the pairs; a fourth one, which has no regions, looks all of them up. */
    private static double readsForALookup(int neighbourhood) {
        double[] figure = new double[1];
        int slots = neighbourhood / 2;
        int homes = SLOTS_OF_A_SHARD / slots;
        int pairs = (int) (MACHINES * homes * slots * OCCUPANCY);
        cluster(neighbourhood, MACHINES, 1)
                .lengths(new SpaceShape(1 << 20, 1 << 17, true), 1 << 14)
                .run(1, cluster -> {
                    FarmMap made = FarmMap.create(cluster.node(0), shape(neighbourhood, homes, MACHINES));
                    List<SimulatedThread> writers = new ArrayList<>();
                    for (int machine = 0; machine < MACHINES; machine++) {
                        int first = machine;
                        writers.add(cluster.host(machine).start("writer", () -> {
                            FarmMap map = FarmMap.open(cluster.node(first), made.address(), MACHINES);
                            for (int number = first; number < pairs; number += MACHINES) {
                                assertEquals(Outcome.STORED, map.put(key(number), value(number)));
                            }
                        }));
                    }
                    cluster.until(() -> writers.stream().allMatch(SimulatedThread::isEnded));
                    FarmNode reader = cluster.node(cluster.join());
                    FarmMap map = FarmMap.open(reader, made.address(), MACHINES);
                    for (int number = 0; number < 30; number++) {
                        assertNotNull(map.get(key(number))); // asks for the capabilities of all regions
                    }
                    long before = reads(cluster);
                    long countedBefore = reader.parts().counters().get(StoreCounter.READS);
                    for (int number = 0; number < pairs; number++) {
                        assertArrayEquals(value(number), map.get(key(number)));
                    }
                    long reads = reads(cluster) - before;

                    assertEquals(reads, reader.parts().counters().get(StoreCounter.READS) - countedBefore);
                    figure[0] = (double) reads / pairs;
                });
        System.out.println("H = " + neighbourhood + ": " + figure[0] + " READs for a lookup over three machines");
        return figure[0];
    }

    @Test
    void shouldNeedAsManyReadsForALookupOverThreeMachinesAsOnOne() {
        assertEquals(1.044, readsForALookup(8), TOLERANCE);
    }

    @Tag("slow")
    @Test
    void shouldNeedAsManyReadsAsOnOneMachineWithASmallerNeighbourhood() {
        assertEquals(1.064, readsForALookup(6), TOLERANCE);
    }

    /** Objects that are allocated on all machines. */
    static long allocated(FarmCluster cluster) {
        long count = 0;
        for (Map.Entry<Integer, RegionPlacement> entry :
                cluster.configuration().regions().entrySet()) {
            FarmRegion region =
                    cluster.node(entry.getValue().primary()).parts().space().region(entry.getKey());
            for (long place = region == null ? FarmSlabs.FULL : region.placeFrom(0);
                    region != null && place != FarmSlabs.FULL;
                    place = region.placeFrom(place + region.slotLength(place))) {
                count += region.isAllocated(place) ? 1 : 0;
            }
        }
        return count;
    }

    /** Few buckets of one slot, so chains grow and shrink. */
    @Test
    void shouldBeAMapAlsoWhenAMachineIsLost() {
        int keys = 40;
        cluster(2, 4, 2).run(1, cluster -> {
            RandomGenerator random =
                    RandomGeneratorFactory.of("L64X128MixRandom").create(2);
            Map<Integer, Long> model = new HashMap<>();
            FarmMap made = FarmMap.create(cluster.node(0), shape(2, 6, 4));
            long empty = allocated(cluster);
            Map<Integer, FarmMap> maps = new TreeMap<>();
            for (int machine = 0; machine < cluster.machines(); machine++) {
                maps.put(machine, FarmMap.open(cluster.node(machine), made.address(), 4));
            }
            change(maps, model, random, keys, 250);
            assertTrue(model.size() > 10, model.toString());
            assertTrue(allocated(cluster) > empty, "no chain");
            cluster.host(1).kill();
            cluster.until(() -> !cluster.configuration().members().contains(1) && cluster.isWhole());
            maps.remove(1);
            requireSame(maps, model, keys);
            change(maps, model, random, keys, 100);
            requireSame(maps, model, keys);
            for (int number = 0; number < keys; number++) {
                Outcome expected = model.containsKey(number) ? Outcome.REMOVED : Outcome.MISSING;
                assertEquals(expected, made.remove(key(number)));
            }
            assertEquals(empty, allocated(cluster));
        });
    }

    private static void change(
            Map<Integer, FarmMap> maps, Map<Integer, Long> model, RandomGenerator random, int keys, int times) {
        List<FarmMap> all = List.copyOf(maps.values());
        for (int i = 0; i < times; i++) {
            int number = random.nextInt(keys);
            FarmMap map = all.get(random.nextInt(all.size()));
            if (random.nextInt(5) < 3) {
                long value = random.nextLong();
                assertEquals(Outcome.STORED, map.put(key(number), value(value)));
                model.put(number, value);
            } else {
                Outcome expected = model.remove(number) == null ? Outcome.MISSING : Outcome.REMOVED;
                assertEquals(expected, map.remove(key(number)));
            }
        }
    }

    private static void requireSame(Map<Integer, FarmMap> maps, Map<Integer, Long> model, int keys) {
        for (FarmMap map : maps.values()) {
            for (int number = 0; number < keys; number++) {
                byte[] found = map.get(key(number));
                Long expected = model.get(number);
                if (expected == null) {
                    assertNull(found, "key " + number);
                } else {
                    assertArrayEquals(value(expected), found, "key " + number);
                }
            }
        }
    }

    /** A few keys in chains, clients on all machines; in every second race a machine dies. */
    private static void race(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        long[] readings = new long[2];
        HistoryRecorder<StoreCall, StoreAnswer> history = new HistoryRecorder<>(() -> ++readings[0]);
        cluster(seed, 3 + (int) (seed % 2), 2)
                .lookingEvery(TimeUnit.MICROSECONDS.toNanos(500))
                .run(1, cluster -> {
                    FarmMap made = FarmMap.create(cluster.node(0), shape(2, 2, 2));
                    cluster.fabric().scheduler().stalls(15, TimeUnit.MICROSECONDS.toNanos(500));
                    List<SimulatedThread> clients = new ArrayList<>();
                    for (int i = 0; i < CLIENTS; i++) {
                        FarmNode node = cluster.node(i);
                        ProcessRecorder<StoreCall, StoreAnswer> me = history.process("client" + i);
                        clients.add(cluster.host(i).start("client", () -> {
                            FarmMap map = FarmMap.open(node, made.address(), 2);
                            for (int n = 0; n < OPERATIONS && !node.isOver(); n++) {
                                step(map, random, readings, me);
                                cluster.fabric().scheduler().sleep(random.nextLong(2_000_000));
                            }
                        }));
                    }
                    if (seed % 2 == 0) {
                        cluster.fabric().scheduler().sleep(random.nextLong(40_000_000));
                        cluster.host((int) (seed / 2 % CLIENTS)).kill();
                    }
                    cluster.until(() -> {
                        for (int i = 0; i < CLIENTS; i++) {
                            if (!clients.get(i).isEnded() && cluster.host(i).isAlive()) {
                                return false;
                            }
                        }
                        return true;
                    });
                });
        new HistoryChecker<>(StoreModel.keeping()).check(history.operations()).requireLinearizable();
    }

    private static void step(
            FarmMap map, RandomGenerator random, long[] readings, ProcessRecorder<StoreCall, StoreAnswer> me) {
        int number = random.nextInt(6);
        int what = random.nextInt(4);
        if (what == 0) {
            long written = ++readings[1];
            tell(me, me.invoke("key" + number, StoreCall.set(written)), map.put(key(number), value(written)));
        } else if (what == 1) {
            tell(me, me.invoke("key" + number, StoreCall.delete()), map.remove(key(number)));
        } else {
            int ticket = me.invoke("key" + number, StoreCall.get());
            byte[] found = map.get(key(number));
            if (found != null) {
                long value = ByteBuffer.wrap(found).getLong();
                assertArrayEquals(value(value), found);
                me.returned(ticket, StoreAnswer.value(value));
            } else {
                me.returned(ticket, StoreAnswer.MISSING);
            }
        }
    }

    private static void tell(ProcessRecorder<StoreCall, StoreAnswer> me, int ticket, Outcome outcome) {
        switch (outcome) {
            case STORED, REMOVED -> me.returned(ticket, StoreAnswer.DONE);
            case MISSING -> me.returned(ticket, StoreAnswer.MISSING);
            case GAVE_UP -> me.forget(ticket);
            case LOST -> {} // it may take effect, even later
            case FULL, FOUND -> throw new AssertionError(outcome);
        }
    }

    @Tag("sampled")
    @Test
    void shouldBeLinearizableAlsoWhenAMachineDies() {
        Long one = Long.getLong("softrdma.seed");
        for (long seed = one == null ? 0 : one; seed < (one == null ? SEEDS : one + 1); seed++) {
            try {
                race(seed);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    /** A member says late that it has recovered; before that nobody knows what is free, and a chain needs a block. */
    @Test
    void shouldWaitForRoomUntilItIsKnownWhatIsFree() {
        cluster(4, 4, 2).run(1, cluster -> {
            FarmMap map = FarmMap.create(cluster.node(0), shape(2, 1, 1));
            int region = cluster.configuration().regions().firstKey();
            int primary = cluster.configuration().primary(region);
            List<Integer> others = new ArrayList<>(List.of(1, 2, 3));
            others.remove(Integer.valueOf(primary));
            int victim = others.removeLast();
            int late = others.removeLast();
            cluster.onMessage((machine, kind) -> {
                if (machine == late && kind == NodeMessageKind.RECOVERED) {
                    cluster.fabric().scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(200));
                }
            });
            cluster.host(victim).kill();
            cluster.until(() -> cluster.ensemble().active() == 2);
            for (int number = 0; number < 5; number++) {
                assertEquals(Outcome.STORED, map.put(key(number), value(number)));
            }
            for (int number = 0; number < 5; number++) {
                assertArrayEquals(value(number), map.get(key(number)));
            }
            assertEquals(primary, cluster.configuration().primary(region));
        });
    }

    @Test
    void shouldSayWhatCannotBe() {
        cluster(3, 3, 1).run(1, cluster -> {
            FarmNode node = cluster.node(0);
            FarmException large = assertThrows(FarmException.class, () -> FarmMap.create(node, shape(2, 100, 1)));
            assertTrue(String.valueOf(large.getMessage()).contains("fewer homes"), large.getMessage());
            FarmMap map = FarmMap.create(node, shape(2, 4, 2));
            assertThrows(IllegalArgumentException.class, () -> map.get(new byte[KEY - 1]));
            assertThrows(IllegalArgumentException.class, () -> map.put(key(1), new byte[VALUE + 1]));
            assertThrows(IllegalArgumentException.class, () -> FarmMap.open(node, map.address(), 0));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> FarmMap.create(node, new TableShape(2, false, 0, 0, true, 4, 1, 42)));
        });
    }
}
