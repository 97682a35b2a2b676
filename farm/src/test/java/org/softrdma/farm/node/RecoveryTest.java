package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;
import static org.softrdma.farm.node.NumberObjects.add;
import static org.softrdma.farm.node.NumberObjects.committed;
import static org.softrdma.farm.node.NumberObjects.make;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.baton.SimulatedThread;
import org.softrdma.farm.message.NodeMessageKind;
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

    /** The others know the next epoch, and it does not: what it sends comes too late. */
    @Test
    void shouldTakeNothingOfAnOlderEpoch() {
        run(1, 4, 2, cluster -> {
            List<Long> objects = List.of(make(cluster.node(1)), make(cluster.node(2)));
            objects.forEach(address -> cluster.node(0).read(address, LENGTH));
            cluster.ensemble().deaf(0, TimeUnit.SECONDS.toNanos(4));
            cluster.host(3).kill();
            cluster.until(() -> cluster.node(1).parts().member().epoch() == 2
                    && cluster.node(2).parts().member().epoch() == 2);
            assertEquals(1, cluster.node(0).parts().member().epoch());
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 0, objects, told);
            boolean ended = cluster.fabric().baton().until(writer::isEnded, TimeUnit.SECONDS.toNanos(1));

            assertFalse(ended && told.get() instanceof TransactionOutcome.Committed<?>, "in an epoch that is over");
            cluster.until(writer::isEnded);
            assertEquals(2, cluster.ensemble().active());
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
                    cluster.fabric().baton().sleep(TimeUnit.MILLISECONDS.toNanos(500));
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

    /** Records of all that is begun later wait for it on all machines. */
    @Test
    void shouldLetOnlySoManyTransactionsBeginBehindOneThatTakesLong() {
        run(3, 3, 1, cluster -> {
            List<Long> objects = List.of(make(cluster.node(1)), make(cluster.node(2)));
            cluster.fabric().baton().sleep(FarmCluster.SESSION_NS);
            NodeTransactions transactions = cluster.node(0).parts().transactions();
            List<TxId> open = new ArrayList<>();
            for (int i = 0; i < TransactionNumbers.MOST_BEHIND; i++) {
                assertTrue(transactions.mayBegin());
                open.add(transactions.name());
            }
            AtomicReference<@Nullable TransactionOutcome<?>> told = new AtomicReference<>();
            SimulatedThread writer = addToAll(cluster, 0, objects, told);
            assertFalse(cluster.fabric().baton().until(writer::isEnded, TimeUnit.SECONDS.toNanos(1)));
            open.subList(1, open.size()).forEach(transactions::over);
            assertFalse(cluster.fabric().baton().until(writer::isEnded, TimeUnit.SECONDS.toNanos(1)));
            transactions.over(open.getFirst());
            cluster.until(writer::isEnded);
            assertEquals(1, cluster.node(1).read(objects.getLast(), LENGTH).getLong(VALUE));
        });
    }
}
