package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;
import static org.softrdma.farm.node.NumberObjects.add;
import static org.softrdma.farm.node.NumberObjects.committed;
import static org.softrdma.farm.node.NumberObjects.make;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.PlacementPolicy;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.space.FarmRegion;

/** Replicas that are lost are made again, and regions move, while transactions go on. */
@Timeout(300)
class CopyTest {
    /** Several messages for each region. */
    private static final int OBJECTS = 60;

    private static void run(long seed, int machines, int replication, FarmCluster.Body body) {
        run(seed, machines, replication, 1, body);
    }

    private static void run(long seed, int machines, int replication, int regions, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, machines, replication, Set.of())
                .lookingEvery(TimeUnit.MICROSECONDS.toNanos(500))
                .run(regions, body);
    }

    private static List<Long> objects(FarmCluster cluster) {
        List<Long> objects = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            objects.add(make(cluster.node(i % cluster.machines())));
        }
        return objects;
    }

    private static void addToAll(FarmCluster cluster, int machine, List<Long> objects) {
        objects.forEach(address -> committed(cluster.node(machine).transact(50, transaction -> {
            add(transaction, address, 1);
            return null;
        })));
    }

    private static RegionPlacement placement(FarmCluster cluster, long address) {
        return Objects.requireNonNull(cluster.configuration().regions().get(FarmAddress.region(address)));
    }

    private static void kill(FarmCluster cluster, int machine) {
        cluster.host(machine).kill();
        cluster.until(() -> !cluster.configuration().members().contains(machine) && cluster.isWhole());
    }

    /** Each object is the same on as many machines as there shall be, and has a value. */
    private static void requireReplicas(FarmCluster cluster, List<Long> objects, int replication, long value) {
        for (long address : objects) {
            RegionPlacement placement = placement(cluster, address);
            assertEquals(replication, placement.machines().size(), placement.toString());
            for (int machine : placement.machines()) {
                FarmRegion region = Objects.requireNonNull(
                        cluster.node(machine).parts().space().region(FarmAddress.region(address)));
                assertEquals(
                        value,
                        region.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, FarmAddress.offset(address) + VALUE));
                assertEquals(
                        region.version(FarmAddress.offset(address)),
                        region.writer().version(FarmAddress.offset(address)),
                        "locked");
            }
        }
    }

    /** With two of each region, three of five machines die, one after the other: each time the other one has it. */
    @Test
    void shouldLoseNothingWhenMachinesDieOneAfterTheOther() {
        run(1, 5, 2, cluster -> {
            List<Long> objects = objects(cluster);
            addToAll(cluster, 0, objects);
            kill(cluster, 1);
            requireReplicas(cluster, objects, 2, 1);
            kill(cluster, 2);
            requireReplicas(cluster, objects, 2, 1);
            kill(cluster, 4);
            requireReplicas(cluster, objects, 2, 1);
            addToAll(cluster, 3, objects);
            requireReplicas(cluster, objects, 2, 2);
            objects.forEach(address ->
                    assertEquals(2, cluster.node(0).read(address, LENGTH).getLong(VALUE)));
        });
    }

    /** What is written while a copy is made is in it, and nothing older lands on it. */
    @Test
    void shouldCopyWhileTransactionsGoOn() {
        run(21, 4, 2, cluster -> {
            List<Long> objects = objects(cluster);
            List<Integer> copied = new ArrayList<>();
            List<SimulatedThread> writers = new ArrayList<>();
            cluster.onMessage((machine, kind) -> {
                if (kind == NodeMessageKind.COPY) {
                    copied.add(machine);
                    cluster.fabric().scheduler().sleep(TimeUnit.MICROSECONDS.toNanos(100));
                }
                if (kind == NodeMessageKind.COPY && writers.isEmpty()) {
                    for (int writer : List.of(0, 2, 3)) {
                        writers.add(cluster.host(writer).start("writer", () -> addToAll(cluster, writer, objects)));
                    }
                }
            });
            kill(cluster, 1);
            cluster.until(() -> writers.stream().allMatch(SimulatedThread::isEnded));
            cluster.until(cluster::isWhole);

            requireReplicas(cluster, objects, 2, 3);
            assertTrue(copied.size() > 3, copied.toString());
        });
    }

    /** Before that a transaction may be decided that the copy has no record of. */
    @Test
    void shouldBeginWhenAllTransactionsOfOlderEpochsAreOver() {
        run(6, 4, 2, cluster -> {
            List<Long> objects = objects(cluster);
            List<Boolean> recovered = new ArrayList<>();
            cluster.onMessage((machine, kind) -> {
                if (kind == NodeMessageKind.COPY) {
                    recovered.add(cluster.node(machine)
                            .parts()
                            .transactions()
                            .recovery()
                            .isOver());
                }
            });
            kill(cluster, 1);
            requireReplicas(cluster, objects, 2, 0);
            assertTrue(recovered.size() >= 3 && recovered.getFirst(), recovered.toString()); // at the first that asks
        });
    }

    /**
     * The first objects are copied, and then changed, which the copy is not told; before it asks for the others, an epoch
     * begins.
     */
    @Test
    void shouldBeginAgainWhenAnEpochInterruptsIt() {
        run(3, 4, 2, cluster -> {
            int region = Collections.min(cluster.configuration().regions().keySet()); // each machine copies it first
            int owner = Objects.requireNonNull(cluster.configuration().regions().get(region))
                    .primary();
            FarmNode primary = cluster.node(owner);
            List<Long> objects = new ArrayList<>();
            for (int i = 0; i < OBJECTS; i++) {
                objects.add(make(primary));
            }
            assertEquals(region, FarmAddress.region(objects.getFirst()));
            AtomicInteger interrupted = new AtomicInteger(-1);
            cluster.onMessage((machine, kind) -> {
                if (kind == NodeMessageKind.COPY
                        && interrupted.get() < 0
                        && hasOnlyTheFirst(cluster.node(machine), objects)) {
                    interrupted.set(machine);
                    primary.await(new OwnerChange(primary.parts(), objects.getFirst(), LENGTH, 7, true));
                    cluster.configuration().members().stream()
                            .filter(member -> member != owner && !member.equals(machine))
                            .forEach(cluster.ensemble()::expel);
                    cluster.until(() -> cluster.configuration().epoch() == 3);
                }
            });
            cluster.host(placement(cluster, objects.getFirst()).replicas().getFirst())
                    .kill();
            cluster.until(() -> cluster.isWhole()
                    && placement(cluster, objects.getFirst()).replicas().equals(List.of(interrupted.get())));

            requireReplicas(cluster, objects.subList(0, 1), 2, 7);
            requireReplicas(cluster, objects.subList(1, OBJECTS), 2, 0);
        });
    }

    private static boolean hasOnlyTheFirst(FarmNode node, List<Long> objects) {
        FarmRegion region = node.parts().space().region(FarmAddress.region(objects.getFirst()));
        return region != null
                && region.version(FarmAddress.offset(objects.getFirst())) != 0
                && region.version(FarmAddress.offset(objects.getLast())) == 0;
    }

    /** What was reserved in an older epoch somebody else may have by now. */
    @Test
    void shouldNotUseWhatWasReservedInAnOlderEpoch() {
        run(7, 3, 2, cluster -> {
            AtomicInteger attempts = new AtomicInteger();
            TransactionOutcome<Long> outcome = cluster.node(0).transact(2, transaction -> {
                long address = transaction.allocate(LENGTH, FarmAddress.NONE);
                if (attempts.incrementAndGet() == 1) {
                    kill(cluster, 1);
                }
                return address;
            });
            assertEquals(2, attempts.get());
            requireReplicas(cluster, List.of(Objects.requireNonNull(committed(outcome))), 2, 0);
        });
    }

    /** Who becomes primary knows what is free: what lives stays, and what was freed is used again. */
    @Test
    void shouldAllocateInARegionWithANewPrimary() {
        run(3, 4, 2, cluster -> {
            List<Long> objects = objects(cluster);
            addToAll(cluster, 0, objects);
            long freed = objects.removeFirst();
            int primary = placement(cluster, freed).primary();
            committed(cluster.node(2).transact(9, transaction -> {
                Object ignored = transaction.read(freed, LENGTH);
                transaction.free(freed);
                return ignored;
            }));
            kill(cluster, primary);
            Set<Long> taken = new HashSet<>(objects);
            boolean again = false;
            for (int i = 0; i < OBJECTS; i++) {
                long made = Objects.requireNonNull(committed(cluster.node((primary + 1) % 4)
                        .transact(9, transaction -> transaction.allocate(LENGTH, freed))));
                assertTrue(taken.add(made), "it is taken: " + Long.toHexString(made));
                again |= made == freed;
            }
            assertTrue(again);
            requireReplicas(cluster, objects, 2, 1);
        });
    }

    /** An operator takes a machine out of use: its regions go to others, and nothing waits for a lease. */
    @Test
    void shouldDrainAMachineWhileTransactionsGoOn() {
        run(4, 4, 2, cluster -> {
            List<Long> objects = objects(cluster);
            addToAll(cluster, 0, objects);
            SimulatedThread writer = cluster.host(3).start("writer", () -> addToAll(cluster, 3, objects));
            cluster.node(2).setPolicy(new PlacementPolicy(Set.of(), Set.of(1), false));
            cluster.until(() -> cluster.isWhole()
                    && cluster.configuration().regions().values().stream()
                            .noneMatch(placement -> placement.machines().contains(1)));
            cluster.until(writer::isEnded);

            requireReplicas(cluster, objects, 2, 2);
            assertTrue(cluster.configuration().members().contains(1));
            addToAll(cluster, 1, objects);
            requireReplicas(cluster, objects, 2, 3);
            assertEquals(0, cluster.configuration().removal());
            assertEquals(4, cluster.configuration().regions().size()); // it makes no new ones
            cluster.node(0).setPolicy(new PlacementPolicy(Set.of(1), Set.of(1), false));
            cluster.until(() -> cluster.node(1).isOver());
            cluster.until(cluster::isWhole);
            requireReplicas(cluster, objects, 2, 3);
        });
    }

    /** A machine that joins gets what the rings say. */
    @Test
    void shouldGiveRegionsToAMachineThatJoins() {
        run(5, 3, 2, 3, cluster -> {
            List<Long> objects = objects(cluster);
            addToAll(cluster, 0, objects);
            int joined = cluster.join();
            assertFalse(cluster.configuration().regions().values().stream()
                    .anyMatch(placement -> placement.machines().contains(joined)));
            SimulatedThread writer = cluster.host(2).start("writer", () -> addToAll(cluster, 2, objects));
            cluster.node(joined).setPolicy(new PlacementPolicy(Set.of(), Set.of(), true));
            cluster.until(() -> cluster.isWhole()
                    && cluster.configuration().regions().values().stream()
                            .anyMatch(placement -> placement.machines().contains(joined)));
            cluster.until(writer::isEnded);

            requireReplicas(cluster, objects, 2, 2);
            addToAll(cluster, joined, objects);
            requireReplicas(cluster, objects, 2, 3);
        });
    }
}
