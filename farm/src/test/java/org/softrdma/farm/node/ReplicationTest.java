package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.farm.node.NumberObjects.ADD;
import static org.softrdma.farm.node.NumberObjects.FAIL;
import static org.softrdma.farm.node.NumberObjects.GET;
import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;
import static org.softrdma.farm.node.NumberObjects.add;
import static org.softrdma.farm.node.NumberObjects.committed;
import static org.softrdma.farm.node.NumberObjects.make;
import static org.softrdma.farm.node.NumberObjects.value;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.node.TransactionOutcome.Unknown;
import org.softrdma.stores.StoreCounter;

/** Transactions with one or two replicas: messages by the formula, whom they wait for, and what an epoch leaves. */
class ReplicationTest {
    private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static void run(long seed, int machines, int replication, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, machines, replication, Set.of()).run(1, body);
    }

    /** The same where seconds pass, until an epoch has begun. */
    private static void runForSeconds(long seed, int machines, int replication, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, machines, replication, Set.of())
                .lookingEvery(TimeUnit.MICROSECONDS.toNanos(500))
                .run(1, body);
    }

    /**
     * What a transaction of several machines sends to each machine: PREPARE if it has something that is written,
     * VALIDATE if it serves something that is only read, COMMIT_REPLICA if it is a replica of something that is written,
     * COMMIT_PRIMARY if it is a primary of it. And an answer to each comes to the coordinator.
     */
    private static long[] formula(FarmCluster cluster, int coordinator, List<Long> written, List<Long> read) {
        Set<Integer> all = new TreeSet<>();
        Set<Integer> primaries = new TreeSet<>();
        Set<Integer> replicas = new TreeSet<>();
        Set<Integer> validations = new TreeSet<>();
        written.forEach(address -> {
            RegionPlacement placement = placement(cluster, address);
            all.addAll(placement.machines());
            primaries.add(placement.primary());
            replicas.addAll(placement.replicas());
        });
        read.forEach(address -> validations.add(placement(cluster, address).primary()));
        long[] messages = new long[cluster.machines()];
        for (Set<Integer> phase : List.of(all, validations, replicas, primaries)) {
            for (int machine : phase) {
                if (machine != coordinator) {
                    messages[machine]++;
                    messages[coordinator]++;
                }
            }
        }
        return messages;
    }

    private static RegionPlacement placement(FarmCluster cluster, long address) {
        return Objects.requireNonNull(cluster.configuration().regions().get(FarmAddress.region(address)));
    }

    private static long[] written(FarmCluster cluster) {
        long[] counts = new long[cluster.machines()];
        Arrays.setAll(counts, machine -> cluster.counter(machine, "responderWrites"));
        return counts;
    }

    private static long[] since(long[] before, FarmCluster cluster) {
        cluster.fabric().scheduler().sleep(LATE_NS); // the last answers come after the application is told
        long[] counts = written(cluster);
        Arrays.setAll(counts, machine -> counts[machine] - before[machine]);
        return counts;
    }

    private static List<Long> objectOfEach(FarmCluster cluster) {
        List<Long> objects = new ArrayList<>();
        for (int machine = 0; machine < cluster.machines(); machine++) {
            objects.add(make(cluster.node(machine)));
        }
        for (int machine = 0; machine < cluster.machines(); machine++) {
            FarmNode node = cluster.node(machine);
            objects.forEach(address -> node.read(address, LENGTH)); // capabilities
        }
        return objects;
    }

    private static void addToAll(FarmNode node, List<Long> written, List<Long> read) {
        assertNull(committed(node.transact(1, transaction -> {
            written.forEach(address -> add(transaction, address, 1));
            read.forEach(address -> assertTrue(value(transaction, address) >= 0));
            return null;
        })));
    }

    /** Each machine is the coordinator once, so its own part costs nothing. */
    @Test
    void shouldSendEachMachineAsManyMessagesAsItHasRoles() {
        for (int replication = 2; replication <= 3; replication++) {
            int machines = 3 + 2 * replication;
            run(10 + replication, machines, replication, cluster -> {
                List<Long> objects = objectOfEach(cluster);
                List<Long> written = objects.subList(0, 3);
                List<Long> read = objects.subList(3, 5);
                for (int coordinator = 0; coordinator < machines; coordinator++) {
                    long[] before = written(cluster);
                    long reads = cluster.node(coordinator).parts().counters().get(StoreCounter.READS);
                    addToAll(cluster.node(coordinator), written, read);

                    assertArrayEquals(
                            formula(cluster, coordinator, written, read),
                            since(before, cluster),
                            "coordinator " + coordinator + ", " + cluster.configuration());
                    assertEquals(
                            coordinator < 5 ? 4 : 5,
                            cluster.node(coordinator).parts().counters().get(StoreCounter.READS) - reads);
                }
            });
        }
    }

    /** The same replicas: SHIP to the primary, RECORD to each replica; nothing to whoever is the machine itself. */
    @Test
    void shouldSendOneRecordToEachReplicaForATransactionOfOneMachine() {
        for (int replication = 1; replication <= 3; replication++) {
            int wanted = replication;
            run(20 + replication, 5, replication, cluster -> {
                long one = make(cluster.node(1));
                long other = make(cluster.node(1));
                RegionPlacement placement = placement(cluster, one);
                for (int coordinator = 0; coordinator < cluster.machines(); coordinator++) {
                    FarmNode node = cluster.node(coordinator);
                    node.read(one, LENGTH);
                    long[] expected = new long[cluster.machines()];
                    if (coordinator != 1) {
                        expected[1]++;
                        expected[coordinator]++;
                    }
                    placement.replicas().forEach(machine -> expected[machine]++);
                    expected[1] += wanted - 1;
                    long[] before = written(cluster);
                    addToAll(node, List.of(one), List.of(other));

                    assertArrayEquals(expected, since(before, cluster), "coordinator " + coordinator);
                }
                assertEquals(5, cluster.node(0).read(one, LENGTH).getLong(VALUE));
            });
        }
    }

    @Test
    void shouldReadSeveralObjectsByOneReadEachAndAValidationEachMachine() {
        run(30, 4, 3, cluster -> {
            List<Long> objects = objectOfEach(cluster);
            FarmNode node = cluster.node(3);
            long[] before = written(cluster);
            long reads = node.parts().counters().get(StoreCounter.READS);
            addToAll(node, List.of(), objects);

            assertArrayEquals(formula(cluster, 3, List.of(), objects), since(before, cluster));
            assertEquals(3, node.parts().counters().get(StoreCounter.READS) - reads);
        });
    }

    private static long retries(FarmNode node) {
        return node.parts().counters().get(StoreCounter.LINE_RETRIES);
    }

    /**
     * Restarts of a lock-free read while a transaction waits for a replica that stands still.
     *
     * @param alone whether the transaction is of one machine
     */
    private static long retriesBesideAWaitingTransaction(boolean alone) {
        AtomicLong retries = new AtomicLong(-1);
        run(40, 3, 2, cluster -> {
            List<Long> objects = objectOfEach(cluster);
            long address = objects.get(1);
            int replica = placement(cluster, address).replicas().getFirst();
            FarmNode reader = cluster.node(3 - 1 - replica);
            long before = retries(reader);
            cluster.host(replica).pauseProcesses(TimeUnit.MILLISECONDS.toNanos(300));
            List<Long> written = alone ? List.of(address) : List.of(address, objects.get(3 - 1 - replica));
            SimulatedThread writer =
                    cluster.host(1).start("writer", () -> addToAll(cluster.node(1), written, List.of()));
            cluster.until(
                    () -> cluster.node(1).parts().transactions().participant().undecided() > 0);
            long value = reader.read(address, LENGTH).getLong(VALUE);

            assertEquals(alone ? 0 : 1, value);
            cluster.until(writer::isEnded);
            assertEquals(1, reader.read(address, LENGTH).getLong(VALUE));
            retries.set(retries(reader) - before);
        });
        return retries.get();
    }

    @Test
    void shouldAdmitReadersWhileATransactionOfOneMachineWaits() {
        long alone = retriesBesideAWaitingTransaction(true);
        long several = retriesBesideAWaitingTransaction(false);

        System.out.println("restarts of a lock-free read: " + alone + " and " + several);
        assertEquals(0, alone);
        assertTrue(several > 10, "restarts: " + several);
    }

    /** Each ships more than a window to the other, whose records come back. */
    @Test
    void shouldNotWaitForEachOtherWhenMachinesShipToEachOther() {
        run(45, 2, 2, cluster -> {
            List<Long> objects = new ArrayList<>();
            for (int i = 0; i < 24; i++) {
                long address = make(cluster.node(1 - i % 2));
                objects.add(address);
                cluster.node(i % 2).read(address, LENGTH);
            }
            List<SimulatedThread> writers = new ArrayList<>();
            for (int i = 0; i < objects.size(); i++) {
                int machine = i % 2;
                List<Long> one = List.of(objects.get(i));
                writers.add(
                        cluster.host(machine).start("writer", () -> addToAll(cluster.node(machine), one, List.of())));
            }
            assertTrue(cluster.fabric()
                    .scheduler()
                    .until(() -> writers.stream().allMatch(SimulatedThread::isEnded), TimeUnit.SECONDS.toNanos(5)));
        });
    }

    /** What comes for one object while a transaction waits for its replicas is one transaction. */
    @Test
    void shouldRunFunctionsForOneObjectTogether() {
        int clients = 12;
        int rounds = 10;
        run(47, 5, 3, cluster -> {
            long hot = make(cluster.node(1));
            RegionPlacement placement = placement(cluster, hot);
            List<Integer> others = new ArrayList<>(List.of(0, 1, 2, 3, 4));
            others.removeAll(placement.machines());
            long[] before = written(cluster);
            List<SimulatedThread> threads = new ArrayList<>();
            Set<Long> results = new TreeSet<>();
            for (int client = 0; client < clients; client++) {
                int machine = others.get(client % others.size());
                threads.add(cluster.host(machine).start("client", () -> {
                    for (int i = 0; i < rounds; i++) {
                        assertTrue(results.add(committed(cluster.node(machine).ship(1, hot, ADD, new byte[] {1}))));
                    }
                }));
            }
            cluster.until(() -> threads.stream().allMatch(SimulatedThread::isEnded));
            int updates = clients * rounds;
            long[] counts = since(before, cluster);
            long records = counts[placement.replicas().getFirst()];

            System.out.println(updates + " updates of one object: " + records + " records at each replica");
            assertEquals(updates, results.size());
            assertEquals(updates, cluster.node(0).read(hot, LENGTH).getLong(VALUE));
            assertTrue(2 * records <= updates, records + " records");
            assertEquals(2L * updates + 4 * records, Arrays.stream(counts).sum());
        });
    }

    @Test
    void shouldSayThatAFunctionHasFailedAndUndoIt() {
        run(48, 3, 2, cluster -> {
            long address = make(cluster.node(1));
            assertEquals(0, committed(cluster.node(0).ship(1, address, ADD, new byte[] {5})));
            assertThrows(FarmException.class, () -> cluster.node(0).ship(1, address, FAIL, new byte[0]));
            assertThrows(FarmException.class, () -> cluster.node(0).ship(1, address, 99, new byte[0]));
            assertThrows(FarmException.class, () -> cluster.node(0).ship(1, address, ADD, new byte[4096]));
            assertEquals(5, committed(cluster.node(2).ship(1, address, GET, new byte[0])));
            assertEquals(5, committed(cluster.node(1).ship(1, address, GET, new byte[0])));
        });
    }

    @Test
    void shouldKeepWhatItHasToldWhenThePrimaryDies() {
        for (int replication = 2; replication <= 3; replication++) {
            runForSeconds(50 + replication, 4, replication, cluster -> {
                List<Long> objects = objectOfEach(cluster);
                FarmNode node = cluster.node(0);
                addToAll(node, List.of(objects.get(1), objects.get(2)), List.of());
                addToAll(node, List.of(objects.get(1)), List.of());
                objects.forEach(address -> addToAll(node, List.of(address), List.of())); // which says what is over
                cluster.host(1).kill();
                cluster.until(() -> cluster.ensemble().active() == 2);
                int heir = placement(cluster, objects.get(1)).primary();
                addToAll(node, List.of(objects.get(heir)), List.of());

                assertEquals(3, node.read(objects.get(1), LENGTH).getLong(VALUE));
                addToAll(node, List.of(objects.get(1)), List.of());
                assertEquals(4, cluster.node(2).read(objects.get(1), LENGTH).getLong(VALUE));
            });
        }
    }

    private static int firstReplica(FarmCluster cluster, long address) {
        return placement(cluster, address).replicas().getFirst();
    }

    /**
     * A transaction on two objects, whose replica stands still as soon as it has prepared.
     *
     * @param removed true if the session of the transaction's machine ends meanwhile
     */
    private static void commitWithAReplicaThatStandsStill(boolean removed) {
        runForSeconds(62, 4, 3, cluster -> {
            List<Long> objects = objectOfEach(cluster);
            int primary = IntStream.rangeClosed(1, 3)
                    .filter(machine -> firstReplica(cluster, objects.get(machine)) != 0)
                    .findFirst()
                    .orElseThrow();
            int replica = firstReplica(cluster, objects.get(primary));
            int other = 1 + 2 + 3 - primary - replica;
            AtomicReference<@Nullable TransactionOutcome<Object>> outcome = new AtomicReference<>();
            cluster.host(0)
                    .start(
                            "writer",
                            () -> outcome.set(cluster.node(0).transact(1, transaction -> {
                                add(transaction, objects.get(primary), 1);
                                add(transaction, objects.get(other), 1);
                                return null;
                            })));
            cluster.until(() ->
                    cluster.node(replica).parts().transactions().participant().undecided() > 0);
            cluster.host(replica).pauseProcesses(TimeUnit.SECONDS.toNanos(10));
            if (removed) {
                cluster.ensemble().expel(0);
            }
            cluster.until(() -> outcome.get() != null);
            assertEquals(removed, outcome.get() instanceof Unknown, String.valueOf(outcome.get()));

            FarmNode reader = cluster.node(other);
            cluster.until(() -> !cluster.configuration().members().contains(replica)
                    && cluster.ensemble().active() == cluster.configuration().epoch());
            long one = reader.read(objects.get(primary), LENGTH).getLong(VALUE);
            assertEquals(one, reader.read(objects.get(other), LENGTH).getLong(VALUE));
            assertTrue(removed || one == (outcome.get() instanceof TransactionOutcome.Committed<?> ? 1 : 0));
        });
    }

    @Test
    void shouldTellWhatCameOfACommitThatAnEpochInterrupts() {
        commitWithAReplicaThatStandsStill(false);
    }

    @Test
    void shouldSayThatItDoesNotKnowOnAMachineThatIsRemoved() {
        commitWithAReplicaThatStandsStill(true);
    }

    /** The others have learnt the epoch, so it is not asked again: its primary knows whether it has run. */
    @Test
    void shouldRunAFunctionOnceThatAnEpochInterrupts() {
        run(61, 4, 2, cluster -> {
            long address = make(cluster.node(1));
            RegionPlacement placement = placement(cluster, address);
            int replica = placement.replicas().getFirst();
            int shipper = replica == 2 ? 3 : 2;
            cluster.node(shipper).read(address, LENGTH);
            AtomicReference<@Nullable TransactionOutcome<Long>> outcome = new AtomicReference<>();
            cluster.host(replica).pauseProcesses(TimeUnit.SECONDS.toNanos(10));
            cluster.host(shipper)
                    .start("writer", () -> outcome.set(cluster.node(shipper).ship(5, address, ADD, new byte[] {1})));
            cluster.until(() -> outcome.get() != null);

            assertEquals(0, committed(Objects.requireNonNull(outcome.get())));
            assertEquals(2, cluster.configuration().epoch());
            assertEquals(1, cluster.node(shipper).read(address, LENGTH).getLong(VALUE));
        });
    }
}
