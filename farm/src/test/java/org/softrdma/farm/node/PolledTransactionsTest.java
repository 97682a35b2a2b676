package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;
import static org.softrdma.farm.node.NumberObjects.add;
import static org.softrdma.farm.node.NumberObjects.committed;
import static org.softrdma.farm.node.NumberObjects.make;
import static org.softrdma.farm.node.NumberObjects.value;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageKind;

/** Transactions of an application on the node's thread. */
class PolledTransactionsTest {
    private static void run(int replication, FarmCluster.Body body) {
        new FarmCluster(11, FabricSettings.DEFAULT, 3, replication, Set.of()).run(1, body);
    }

    /** Its body runs again with each object that comes; what it had changed before is as it was. */
    @Test
    void shouldRunABodyAgainUntilItHasAllThatItReads() {
        run(2, cluster -> {
            long here = make(cluster.node(0));
            long there = make(cluster.node(1));
            AtomicInteger runs = new AtomicInteger();
            TransactionOutcome<?> outcome = cluster.polled(0, transaction -> {
                runs.incrementAndGet();
                add(transaction, here, 1);
                add(transaction, there, 10);
                return value(transaction, here) + value(transaction, there);
            });
            assertEquals(11L, committed(outcome));
            assertTrue(runs.get() > 1, "the other machine's object was here at once");
            assertEquals(1, cluster.node(2).read(here, LENGTH).getLong(VALUE));
            assertEquals(10, cluster.node(2).read(there, LENGTH).getLong(VALUE));
        });
    }

    @Test
    void shouldAllocateOnceHoweverOftenItsBodyRuns() {
        run(2, cluster -> {
            long other = make(cluster.node(1));
            Set<Long> allocated = new HashSet<>();
            AtomicInteger runs = new AtomicInteger();
            TransactionOutcome<?> outcome = cluster.polled(0, transaction -> {
                runs.incrementAndGet();
                long first = transaction.allocate(LENGTH, other);
                long second = transaction.allocate(LENGTH, other);
                allocated.add(first);
                allocated.add(second);
                assertNotEquals(first, second);
                transaction.write(first).putLong(VALUE, 3);
                add(transaction, other, 1);
                transaction.write(second).putLong(VALUE, 4);
                return first;
            });
            long first = (long) Objects.requireNonNull(committed(outcome));
            assertTrue(runs.get() > 2, runs + " runs");
            assertEquals(2, allocated.size());
            assertEquals(3, cluster.node(2).read(first, LENGTH).getLong(VALUE));
            committed(cluster.polled(1, transaction -> {
                assertEquals(3, value(transaction, first));
                transaction.free(first);
                return null;
            }));
            assertFalse(cluster.node(2).read(first, LENGTH).isAllocated());
        });
    }

    /** One object is read, then changed by another machine while the next one's machine stands still. */
    @Test
    void shouldTellAnAbort() {
        run(1, cluster -> {
            long changed = make(cluster.node(2));
            long late = make(cluster.node(1));
            committed(cluster.polled(0, transaction -> value(transaction, late))); // it has the capability
            AtomicInteger runs = new AtomicInteger();
            SimulatedThread client = cluster.host(0)
                    .start(
                            "client",
                            () -> assertInstanceOf(TransactionOutcome.Aborted.class, cluster.polled(0, transaction -> {
                                long before = value(transaction, changed);
                                if (runs.incrementAndGet() == 1) {
                                    cluster.host(1).pause(TimeUnit.MILLISECONDS.toNanos(100));
                                }
                                transaction.write(changed).putLong(VALUE, before + value(transaction, late));
                                return null;
                            })));
            cluster.until(() -> runs.get() > 0);
            committed(cluster.node(2).transact(1, transaction -> {
                add(transaction, changed, 1);
                return null;
            }));
            cluster.until(client::isEnded);
            assertEquals(1, cluster.node(0).read(changed, LENGTH).getLong(VALUE));
        });
    }

    @Test
    void shouldTellWhatABodyThrows() {
        run(2, cluster -> {
            long object = make(cluster.node(1));
            IllegalStateException own = new IllegalStateException("it fails");
            Set<Long> places = new HashSet<>();
            assertSame(
                    own,
                    assertThrows(
                            RuntimeException.class,
                            () -> cluster.polled(0, transaction -> {
                                add(transaction, object, 1);
                                places.add(transaction.allocate(LENGTH, object));
                                throw own;
                            })));
            places.add((Long) committed(cluster.polled(0, transaction -> transaction.allocate(LENGTH, object))));
            assertEquals(1, places.size(), "the place of the transaction that has failed is lost");
            RuntimeException caught = assertThrows(
                    RuntimeException.class,
                    () -> cluster.polled(0, transaction -> {
                        try {
                            return value(transaction, object);
                        } catch (RuntimeException e) {
                            return 0L;
                        }
                    }));
            assertTrue(String.valueOf(caught.getMessage()).contains("must not catch"), caught.toString());
            long nowhere = FarmAddress.of(FarmAddress.region(object) + 1, 1024);
            assertInstanceOf(
                    TransactionOutcome.Aborted.class, cluster.polled(0, transaction -> value(transaction, nowhere)));
            assertThrows(FarmException.class, () -> cluster.polled(0, transaction -> value(transaction, object + 1)));
            assertEquals(0, cluster.node(2).read(object, LENGTH).getLong(VALUE));
        });
    }

    @Test
    void shouldShipFunctionsAndKeepToItsWindow() {
        run(2, cluster -> {
            long object = make(cluster.node(1));
            PolledTransactions transactions = cluster.node(0).polledTransactions(1);
            List<Object> told = new ArrayList<>();
            PolledTransactions.OutcomeHandler handler = new PolledTransactions.OutcomeHandler() {
                @Override
                public void onOutcome(long tag, TransactionOutcome<?> outcome) {
                    told.add(tag + " " + committed(outcome));
                }

                @Override
                public void onFailure(long tag, Throwable reason) {
                    told.add(tag + " failed");
                }
            };
            assertTrue(transactions.startShip(object, NumberObjects.ADD, new byte[] {5}, 1));
            assertFalse(transactions.start(transaction -> value(transaction, object), 2), "the window is full");
            cluster.until(() -> transactions.poll(handler) >= 0 && told.size() == 1);
            assertTrue(transactions.start(transaction -> value(transaction, object), 2));
            cluster.until(() -> transactions.poll(handler) >= 0 && told.size() == 2);
            assertTrue(transactions.startShip(object, NumberObjects.FAIL, new byte[1], 3));
            cluster.until(() -> transactions.poll(handler) >= 0 && told.size() == 3);
            assertEquals(List.of("1 0", "2 5", "3 failed"), told);
            assertEquals(0, transactions.outstanding());
            assertThrows(IllegalArgumentException.class, () -> cluster.node(0).polledTransactions(0));
        });
    }

    /** Who has sent its messages does not know what comes of them; who has sent nothing has changed nothing. */
    @Test
    void shouldTellWhatIsUnderWayWhenItsMachineIsRemoved() {
        run(1, cluster -> {
            long here = make(cluster.node(0));
            long there = make(cluster.node(1));
            List<String> told = new ArrayList<>();
            AtomicInteger runs = new AtomicInteger();
            cluster.onMessage((machine, kind) -> {
                if (machine == 1 && kind == NodeMessageKind.PREPARE && runs.getAndIncrement() == 0) {
                    cluster.host(1).pause(FarmCluster.SESSION_NS / 2);
                    cluster.ensemble().expel(0);
                }
            });
            SimulatedThread commits = cluster.host(0)
                    .start(
                            "client",
                            () -> told.add(cluster.polled(0, transaction -> {
                                        add(transaction, here, 1);
                                        add(transaction, there, 1);
                                        return null;
                                    })
                                    .getClass()
                                    .getSimpleName()));
            cluster.until(() -> runs.get() > 0);
            SimulatedThread reads = cluster.host(0)
                    .start(
                            "client",
                            () -> told.add(assertThrows(
                                            FarmException.class,
                                            () -> cluster.polled(0, transaction -> value(transaction, there)))
                                    .getMessage()));
            cluster.until(() -> commits.isEnded() && reads.isEnded());
            assertEquals(Set.of("Unknown", FarmNode.REMOVED), Set.copyOf(told));
        });
    }
}
