package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.baton.SimulatedThread;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.testkit.history.ListAppendChecker;
import org.softrdma.testkit.history.ListTransaction;
import org.softrdma.testkit.history.ListVerdict;
import org.softrdma.testkit.history.Operation;

/**
 * Transactions on a few lists on several machines, for one seed: each reads some, and appends to some of them. Connections
 * are reset meanwhile. What they saw must be a history of transactions that took effect one after the other.
 */
final class TransactionRace {
    private static final int MACHINES = 3;
    private static final int CLIENTS = 2;
    private static final int LISTS = 4;
    private static final int TRANSACTIONS = 6;
    private static final int MOST = MACHINES * CLIENTS * TRANSACTIONS + 1;
    private static final int FIRST = FarmObjectDescriptor.PAYLOAD_OFFSET;
    static final int LENGTH = FIRST + MOST * Long.BYTES;
    private static final long MICROSECOND = TimeUnit.MICROSECONDS.toNanos(1);

    private final long seed;
    private final FarmCluster cluster;
    private final RandomGenerator random;
    private final List<ListTransaction> history = new ArrayList<>();
    private final Map<String, Long> lists = new TreeMap<>();
    private final Map<String, List<Long>> last = new HashMap<>();
    private long readings;
    private long values;
    private int committed;
    private int aborted;

    TransactionRace(long seed) {
        this.seed = seed;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        FabricSettings settings = seed % 2 == 0
                ? FabricSettings.DEFAULT
                : FabricSettings.adversary().with(NetworkSettings.DEFAULT.withBufferBytes(4096));
        cluster = new FarmCluster(seed, settings, MACHINES, 1, Set.of());
    }

    ListVerdict run() {
        cluster.run(1, it -> {
            for (int i = 0; i < LISTS; i++) {
                lists.put("x" + i, make(i % MACHINES));
            }
            cluster.fabric().baton().stalls(seed % 4 < 2 ? 15 : 80, 500 * MICROSECOND);
            List<SimulatedThread> clients = new ArrayList<>();
            for (int client = 0; client < MACHINES * CLIENTS; client++) {
                int number = client;
                clients.add(cluster.host(client % MACHINES).start("client", () -> work(number)));
            }
            while (!clients.stream().allMatch(SimulatedThread::isEnded)) {
                cluster.fabric().baton().sleep(random.nextLong(5000, 50_000) * MICROSECOND);
                if (seed % 3 == 0) {
                    int one = random.nextInt(MACHINES);
                    cluster.fabric().reset(cluster.host(one), cluster.host((one + 1) % MACHINES));
                }
            }
            for (Map.Entry<String, Long> list : lists.entrySet()) {
                last.put(list.getKey(), readLast(list.getValue()));
            }
        });
        return ListAppendChecker.check(history, last);
    }

    private long make(int machine) {
        FarmNode node = cluster.node(machine);
        if (node.transact(1, transaction -> transaction.allocate(LENGTH, FarmAddress.NONE))
                instanceof TransactionOutcome.Committed<Long>(Long address)) {
            return Objects.requireNonNull(address);
        }
        throw new AssertionError("no list");
    }

    /** Fails if the list is locked for ever. */
    private List<Long> readLast(long address) {
        if (cluster.node(0).transact(3, transaction -> list(transaction.read(address, LENGTH)))
                instanceof TransactionOutcome.Committed<List<Long>>(List<Long> list)) {
            return Objects.requireNonNull(list);
        }
        throw new AssertionError("a list stays locked");
    }

    private void work(int client) {
        FarmNode node = cluster.node(client % MACHINES);
        for (int i = 0; i < TRANSACTIONS; i++) {
            transact(client, node);
            cluster.fabric().baton().sleep(random.nextLong(3000) * MICROSECOND);
        }
    }

    private void transact(int client, FarmNode node) {
        Set<String> keys = new TreeSet<>();
        boolean reading = random.nextInt(5) < 2;
        int count = reading && random.nextBoolean() ? 1 : 1 + random.nextInt(3);
        while (keys.size() < count) {
            keys.add("x" + random.nextInt(LISTS));
        }
        Map<String, Long> appends = new HashMap<>();
        keys.forEach(key -> {
            if (!reading && random.nextInt(3) > 0) {
                appends.put(key, ++values);
            }
        });
        Map<String, List<Long>> reads = new HashMap<>();
        long invoked = ++readings;
        TransactionOutcome<Void> outcome = node.transact(1, transaction -> {
            for (String key : keys) {
                long address = Objects.requireNonNull(lists.get(key));
                ObjectImage image = transaction.read(address, LENGTH);
                reads.put(key, list(image));
                Long value = appends.get(key);
                if (value != null) {
                    append(transaction.write(address), value);
                }
            }
            return null;
        });
        ListTransaction.Outcome told = switch (outcome) {
            case TransactionOutcome.Committed<Void> _ -> ListTransaction.Outcome.COMMITTED;
            case TransactionOutcome.Aborted<Void> _ -> ListTransaction.Outcome.ABORTED;
            case TransactionOutcome.Unknown<Void> _ -> ListTransaction.Outcome.UNKNOWN;
        };
        committed += told == ListTransaction.Outcome.COMMITTED ? 1 : 0;
        aborted += told == ListTransaction.Outcome.ABORTED ? 1 : 0;
        long returned = told == ListTransaction.Outcome.UNKNOWN ? Operation.NEVER : ++readings;
        history.add(new ListTransaction("client" + client, invoked, returned, told, reads, appends));
    }

    private static List<Long> list(ObjectImage image) {
        List<Long> list = new ArrayList<>();
        for (int i = 0; i < image.getLong(FIRST); i++) {
            list.add(image.getLong(FIRST + (i + 1) * Long.BYTES));
        }
        return list;
    }

    private static void append(ObjectImage image, long value) {
        long count = image.getLong(FIRST) + 1;
        image.putLong(FIRST, count);
        image.putLong((int) (FIRST + count * Long.BYTES), value);
    }

    int committed() {
        return committed;
    }

    int aborted() {
        return aborted;
    }

    @Override
    public String toString() {
        return "seed " + seed + ": " + committed + " committed, " + aborted + " aborted";
    }
}
