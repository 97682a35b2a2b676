package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;
import static org.softrdma.farm.node.NumberObjects.add;
import static org.softrdma.farm.node.NumberObjects.committed;
import static org.softrdma.farm.node.NumberObjects.make;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.transaction.TxId;

/** What epochs do to transactions of machines that live. */
class RecoveryTest {
    private static void run(long seed, int machines, int replication, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, machines, replication, Set.of()).run(1, body);
    }

    private static SimulatedThread addToAll(
            FarmCluster cluster,
            int machine,
            List<Long> objects,
            AtomicReference<@Nullable TransactionOutcome<?>> told) {
        return cluster.host(machine)
                .start(
                        "writer",
                        () -> told.set(cluster.node(machine).transact(1, transaction -> {
                            objects.forEach(address -> add(transaction, address, 1));
                            return null;
                        })));
    }

    /** The others know the next epoch, and the coordinator does not: its decision comes too late. */
    @Test
    void shouldTakeNothingOfAnOlderEpoch() {
        run(1, 4, 1, cluster -> {
            List<Long> objects = List.of(make(cluster.node(0)), make(cluster.node(1)));
            objects.forEach(address -> cluster.node(2).read(address, LENGTH));
            cluster.host(3).kill();
            cluster.fabric().scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(1600));
            cluster.ensemble().deaf(2, TimeUnit.SECONDS.toNanos(2));
            cluster.onMessage((machine, kind) -> {
                if (machine == 2 && kind == NodeMessageKind.COMMIT_PRIMARY) {
                    cluster.until(() -> cluster.node(0).parts().member().epoch() == 2
                            && cluster.node(1).parts().member().epoch() == 2);
                }
            });
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 2, objects, told);
            cluster.until(writer::isEnded);

            assertInstanceOf(TransactionOutcome.Aborted.class, told.get());
            assertTrue(cluster.configuration().members().contains(2));
            assertEquals(0, cluster.node(2).read(objects.getFirst(), LENGTH).getLong(VALUE));
        });
    }

    /** One primary has committed, so the application is told; the other one stands still, and records are needed yet. */
    @Test
    void shouldKeepRecordsUntilEveryPrimaryHasCommitted() {
        run(2, 3, 1, cluster -> {
            List<Long> objects = List.of(make(cluster.node(1)), make(cluster.node(2)));
            objects.forEach(address -> cluster.node(0).read(address, LENGTH));
            AtomicBoolean paused = new AtomicBoolean();
            cluster.onMessage((machine, kind) -> {
                if (machine == 2 && kind == NodeMessageKind.COMMIT_PRIMARY && !paused.getAndSet(true)) {
                    cluster.fabric().scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(500));
                }
            });
            NodeTransactions transactions = cluster.node(0).parts().transactions();
            long before = transactions.truncated();
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 0, objects, told);
            cluster.until(writer::isEnded);

            assertNull(committed(Objects.requireNonNull(told.get())));
            assertEquals(before, transactions.truncated());
            cluster.until(() -> transactions.truncated() > before);
        });
    }

    /** All replicas have committed; no primary has said so, and both are removed. */
    @Test
    void shouldTellThatItIsCommittedWhenThePrimariesAreGoneBeforeTheyAnswer() {
        FarmCluster six = new FarmCluster(8, FabricSettings.DEFAULT, 6, 2, Set.of())
                .lookingEvery(TimeUnit.MICROSECONDS.toNanos(500));
        six.run(1, cluster -> {
            List<Long> objects = new ArrayList<>();
            Set<Integer> used = new TreeSet<>();
            for (int machine = 1; machine < cluster.machines() && objects.size() < 2; machine++) {
                long address = make(cluster.node(machine));
                RegionPlacement placement =
                        Objects.requireNonNull(cluster.configuration().regions().get(FarmAddress.region(address)));
                if (!placement.machines().contains(0) && Collections.disjoint(used, placement.machines())) {
                    objects.add(address);
                    used.addAll(placement.machines());
                }
            }
            assertEquals(2, objects.size());
            objects.forEach(address -> cluster.node(0).read(address, LENGTH));
            cluster.onMessage((machine, kind) -> {
                if (machine != 0 && kind == NodeMessageKind.COMMIT_PRIMARY) {
                    cluster.fabric().scheduler().sleep(TimeUnit.SECONDS.toNanos(20));
                }
            });
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 0, objects, told);
            cluster.until(writer::isEnded);

            assertNull(committed(Objects.requireNonNull(told.get())));
            assertEquals(4, cluster.configuration().members().size());
            objects.forEach(address ->
                    assertEquals(1, cluster.node(0).read(address, LENGTH).getLong(VALUE)));
        });
    }

    /** Records of all that is begun later wait for it on all machines. */
    @Test
    void shouldLetOnlySoManyTransactionsBeginBehindOneThatTakesLong() {
        run(3, 3, 1, cluster -> {
            List<Long> objects = List.of(make(cluster.node(1)), make(cluster.node(2)));
            cluster.fabric().scheduler().sleep(FarmCluster.SESSION_NS);
            NodeTransactions transactions = cluster.node(0).parts().transactions();
            List<TxId> open = new ArrayList<>();
            for (int i = 0; i < TransactionNumbers.MOST_BEHIND; i++) {
                assertTrue(transactions.mayBegin());
                open.add(transactions.name());
            }
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 0, objects, told);
            assertFalse(cluster.fabric().scheduler().until(writer::isEnded, TimeUnit.SECONDS.toNanos(1)));
            open.subList(1, open.size()).forEach(transactions::over);
            assertFalse(cluster.fabric().scheduler().until(writer::isEnded, TimeUnit.SECONDS.toNanos(1)));
            transactions.over(open.getFirst());
            cluster.until(writer::isEnded);
            assertEquals(1, cluster.node(1).read(objects.getLast(), LENGTH).getLong(VALUE));
        });
    }

    /** It takes itself for the primary, which breaks the protocol: neither is waited for an epoch, nor told half of it. */
    @Test
    void shouldSayThatNobodyKnowsWhenAReplicaRefusesARecord() {
        run(7, 3, 2, cluster -> {
            List<Long> objects = List.of(make(cluster.node(1)), make(cluster.node(1)));
            int region = FarmAddress.region(objects.getFirst());
            int replica = Objects.requireNonNull(
                            cluster.configuration().regions().get(region))
                    .replicas()
                    .getFirst();
            cluster.onMessage((machine, kind) -> {
                if (machine == replica && kind == NodeMessageKind.RECORD) {
                    FarmSpace space = cluster.node(replica).parts().space();
                    space.onConfiguration(
                            space.configuration().with(region, new RegionPlacement(replica, List.of(1), List.of())));
                    space.locksRecovered();
                }
            });
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 2 - replica, objects.subList(0, 1), told);
            assertTrue(cluster.fabric().scheduler().until(writer::isEnded, TimeUnit.SECONDS.toNanos(1)));
            assertInstanceOf(TransactionOutcome.Unknown.class, told.get());
            assertInstanceOf(
                    TransactionOutcome.Unknown.class,
                    cluster.node(0).ship(1, objects.getLast(), NumberObjects.ADD, new byte[] {1}));
            assertEquals(1, cluster.configuration().epoch());
        });
    }

    private static void runWithAWindowOfOne(long seed, int machines, int replication, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, machines, replication, Set.of())
                .window(1)
                .run(1, body);
    }

    /** A machine knows epoch 2, and hears half a second later than others that it is active. */
    private static void hearLate(FarmCluster cluster, int machine) {
        cluster.until(() -> cluster.node(machine).parts().member().epoch() == 2);
        cluster.fabric().scheduler().sleep(TimeUnit.SECONDS.toNanos(1));
        cluster.ensemble().deaf(machine, TimeUnit.SECONDS.toNanos(1));
    }

    private static boolean isRecovered(FarmCluster cluster, int machine) {
        NodeParts parts = cluster.node(machine).parts();
        return parts.member().epoch() == 2 && parts.transactions().recovery().isOver();
    }

    /**
     * Machine 1 hears late that the epoch is active, so it has heard all others by then. It hears itself before it tells
     * machine 2 that it has nothing more in doubt: its decisions are first, and machine 2 answers none of them before that.
     */
    @Test
    void shouldReportPastDecisionsThatWaitForTheReport() {
        runWithAWindowOfOne(5, 4, 4, cluster -> {
            long address = make(cluster.node(1));
            cluster.host(3).kill();
            hearLate(cluster, 1);

            assertTrue(cluster.fabric()
                    .scheduler()
                    .until(
                            () -> List.of(0, 1, 2).stream().allMatch(machine -> isRecovered(cluster, machine)),
                            TimeUnit.SECONDS.toNanos(5)));
            assertEquals(0, cluster.node(2).read(address, LENGTH).getLong(VALUE));
        });
    }

    /**
     * Machines 0 and 1 have shipped to each other, and each recovers the transaction that ran what the other one has shipped.
     * They ship again before they decide, because machine 2 says late what it has in doubt.
     */
    @Test
    void shouldDecidePastFunctionsThatWaitForTheDecision() {
        runWithAWindowOfOne(6, 4, 4, cluster -> {
            List<Long> objects = List.of(make(cluster.node(1)), make(cluster.node(0)));
            cluster.host(3).kill();
            List<TransactionOutcome<Long>> told = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int machine = i;
                SimulatedThread ignored = cluster.host(machine)
                        .start(
                                "client",
                                () -> told.add(cluster.node(machine)
                                        .ship(1, objects.get(machine), NumberObjects.ADD, new byte[] {1})));
            }

            hearLate(cluster, 2);
            assertTrue(cluster.fabric().scheduler().until(() -> told.size() == 2, TimeUnit.SECONDS.toNanos(10)));
            told.forEach(outcome -> assertEquals(0, committed(outcome)));
            assertEquals(2, cluster.node(0).parts().member().epoch());
        });
    }
}
