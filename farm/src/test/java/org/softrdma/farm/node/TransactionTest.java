package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.TransactionOutcome.Aborted;
import org.softrdma.stores.StoreCounter;

/**
 * Transactions of several machines, without replicas: messages by the formula, and what they promise by seeds. {@code
 * -Dsoftrdma.seed=N} runs one race again.
 */
class TransactionTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Math.max(6, 60 / SAMPLE);
    private static final int SLOW_SEEDS =
            Integer.getInteger("softrdma.seeds", Boolean.getBoolean("softrdma.slow.short") ? 20 : 500);

    private static void run(long seed, int machines, FarmCluster.Body body) {
        new FarmCluster(seed, FabricSettings.DEFAULT, machines, 1, Set.of()).run(1, body);
    }

    /** WRITEs that the devices of all machines have taken. */
    private static long messages(FarmCluster cluster, int machines) {
        long sum = 0;
        for (int machine = 0; machine < machines; machine++) {
            sum += cluster.counter(machine, "responderWrites");
        }
        return sum;
    }

    /** Three primaries are written, one of them twice, two are only read, and none of them is the coordinator. */
    @Test
    void shouldSendAsManyMessagesAsTheFormulaSays() {
        int machines = 6;
        run(1, machines, cluster -> {
            List<Long> objects = new ArrayList<>();
            for (int machine = 0; machine < machines; machine++) {
                objects.add(make(cluster.node(machine)));
            }
            long twice = make(cluster.node(0));
            FarmNode node = cluster.node(5);
            objects.forEach(address -> node.read(address, LENGTH)); // capabilities
            long before = messages(cluster, machines);
            long reads = node.parts().counters().get(StoreCounter.READS);
            assertNull(committed(node.transact(1, transaction -> {
                for (int machine = 0; machine < 3; machine++) {
                    add(transaction, objects.get(machine), 1);
                }
                add(transaction, twice, 1);
                assertEquals(0, value(transaction, objects.get(3)));
                assertEquals(0, value(transaction, objects.get(4)));
                return null;
            })));
            cluster.fabric().scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(100)); // the last answers come late

            assertEquals(2 * (3 + 2 + 3), messages(cluster, machines) - before);
            assertEquals(6, node.parts().counters().get(StoreCounter.READS) - reads);
        });
    }

    @Test
    void shouldSendNoMessageForOneObjectThatIsOnlyRead() {
        run(2, 3, cluster -> {
            long address = make(cluster.node(1));
            ObjectImage warm = cluster.node(0).read(address, LENGTH);
            long before = messages(cluster, 3);

            assertEquals(
                    Long.valueOf(0),
                    committed(cluster.node(0).transact(1, transaction -> value(transaction, address))));
            assertTrue(warm.isAllocated());
            assertEquals(before, messages(cluster, 3));
        });
    }

    @Test
    void shouldRefuseWhatSomebodyElseHasChangedMeanwhile() {
        run(3, 3, cluster -> {
            long one = make(cluster.node(1));
            long other = make(cluster.node(2));
            TransactionOutcome<Object> outcome = cluster.node(0).transact(1, transaction -> {
                add(transaction, other, value(transaction, one));
                return committed(cluster.node(1).transact(1, inner -> {
                    add(inner, one, 5);
                    return null;
                }));
            });

            assertInstanceOf(Aborted.class, outcome);
            assertEquals(0, cluster.node(0).read(other, LENGTH).getLong(VALUE));
            assertEquals(
                    Long.valueOf(5), committed(cluster.node(2).transact(3, transaction -> value(transaction, one))));
        });
    }

    @Test
    void shouldFreeAnObjectAndUseItsPlaceAgainAsAnother() {
        run(4, 3, cluster -> {
            long address = make(cluster.node(1));
            long incarnation = cluster.node(0).read(address, LENGTH).incarnation();
            assertNull(committed(cluster.node(0).transact(1, transaction -> {
                assertTrue(transaction.read(address, LENGTH).isAllocated());
                transaction.free(address);
                return null;
            })));

            assertFalse(cluster.node(0).read(address, LENGTH).isAllocated());
            assertEquals(address, make(cluster.node(1)));
            ObjectImage again = cluster.node(0).read(address, LENGTH);
            assertTrue(again.isAllocated());
            assertEquals((int) incarnation + 1, (int) again.incarnation());
        });
    }

    /** A region holds fifteen objects of this length. */
    @Test
    void shouldUseThePlacesOfTransactionsThatWereAborted() {
        int length = 900;
        run(6, 3, cluster -> {
            long near = make(cluster.node(1));
            for (int i = 0; i < 20; i++) {
                assertInstanceOf(Aborted.class, cluster.node(0).transact(1, transaction -> {
                    add(transaction, near, 1);
                    return committed(cluster.node(1).transact(1, inner -> {
                        add(inner, near, 1);
                        return transaction.allocate(length, near);
                    }));
                }));
                assertThrows(
                        UnsupportedOperationException.class,
                        () -> cluster.node(0).transact(1, transaction -> {
                            throw new UnsupportedOperationException(Long.toString(transaction.allocate(length, near)));
                        }));
            }
            Set<Long> places = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                places.add(committed(cluster.node(0).transact(1, transaction -> transaction.allocate(length, near))));
            }
            assertEquals(3, places.size());
            for (long place : places) {
                assertTrue(cluster.node(2).read(place, length).isAllocated());
            }
        });
    }

    @Test
    void shouldNotUseAPlaceThatWasReservedInAnOlderEpoch() {
        run(7, 3, cluster -> {
            long near = make(cluster.node(1));
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> cluster.node(0).transact(1, transaction -> {
                        throw new UnsupportedOperationException(Long.toString(transaction.allocate(LENGTH, near)));
                    }));
            cluster.host(2).kill();
            cluster.until(() -> cluster.ensemble().active() == 2);
            cluster.until(() -> cluster.node(0).configuration().epoch() == 2);
            assertNotNull(committed(cluster.node(0).transact(1, transaction -> transaction.allocate(LENGTH, near))));
        });
    }

    @Test
    void shouldForgetTransactionsThatAreOver() {
        run(5, 3, cluster -> {
            long address = make(cluster.node(1));
            for (int i = 0; i < 5; i++) {
                assertNull(committed(cluster.node(0).transact(1, transaction -> {
                    add(transaction, address, 1);
                    return null;
                })));
            }
            assertTrue(cluster.node(1).parts().transactions().participant().records() <= 3);
        });
    }

    private static void requireSerializable(long from, int count) {
        Long one = Long.getLong("softrdma.seed");
        int committed = 0;
        int aborted = 0;
        for (long seed = one == null ? from : one; seed < (one == null ? from + count : one + 1); seed++) {
            TransactionRace race = new TransactionRace(seed, 3, 1, TransactionRace.Faults.SHORT);
            try {
                race.run().requireSerializable();
            } catch (RuntimeException | Error e) {
                throw new AssertionError(race + " fails: " + e.getMessage(), e);
            }
            committed += race.committed();
            aborted += race.aborted();
        }
        System.out.println(count + " seeds, " + committed + " committed, " + aborted + " aborted");
        assertTrue(committed > count && aborted > 0, committed + " committed, " + aborted + " aborted");
    }

    @Tag("sampled")
    @Test
    void shouldBeStrictlySerializable() {
        requireSerializable(0, SEEDS);
    }

    @Tag("slow")
    @Timeout(3600)
    @Test
    void shouldBeStrictlySerializableByManySeeds() {
        requireSerializable(1000, SLOW_SEEDS);
    }
}
