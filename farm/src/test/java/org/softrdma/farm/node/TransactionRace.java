package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.PlacementPolicy;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.testkit.history.ListAppendChecker;
import org.softrdma.testkit.history.ListTransaction;
import org.softrdma.testkit.history.ListVerdict;
import org.softrdma.testkit.history.Operation;

/**
 * Transactions on a few lists on several machines, for one seed: each reads some, and appends to some of them. Every second
 * client has them run by an application that polls. Meanwhile
 * connections are reset, machines stand still or do not reach each other; or one dies. What they saw must be a history of
 * transactions that took effect one after the other.
 */
final class TransactionRace {
    private static final int LISTS = 4;
    private static final int TRANSACTIONS = 6;
    private static final int MOST_ATTEMPTS = 50;
    private static final int MOST = 6 * TRANSACTIONS + 1;
    private static final int FIRST = FarmObjectDescriptor.PAYLOAD_OFFSET;
    static final int LENGTH = FIRST + MOST * Long.BYTES;
    private static final long MICROSECOND = TimeUnit.MICROSECONDS.toNanos(1);

    /** What happens meanwhile. */
    enum Faults {
        /** Resets, pauses and partitions, all of them shorter than a session. */
        SHORT,
        /** A machine is killed, or two one after the other where three have each region. */
        KILL,
        /**
         * As many machines are lost in any way: killed, without power, standing still with or without their devices, cut off
         * from the membership, their sessions ended. Clocks drift within the bound.
         */
        LOSS,
        /** As many sessions end while their machines live on, and hear of it late. */
        SESSION,
        /**
         * More machines are killed than there are replicas, each when all regions are whole again; between them regions
         * move, as the policy is.
         */
        COPY
    }

    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int MOST_DRIFT_PPM = 4900;
    private static final int APPEND = 4;

    /** What clients ship. */
    static final Map<Integer, ShippedFunction> FUNCTIONS = Map.of(APPEND, (objects, address, argument) -> {
        append(objects.write(address, LENGTH), argument.getLong());
        return 0;
    });

    private final long seed;
    private final int machines;
    private final int clientsOfMachine;
    private final int replication;
    private final Faults faults;
    private final FarmCluster cluster;
    private final RandomGenerator random;
    private final List<ListTransaction> history = new ArrayList<>();
    private final Map<String, Long> lists = new TreeMap<>();
    private final Map<String, List<Long>> last = new HashMap<>();
    /** What clients have begun, in case they die. */
    private final Map<Integer, ListTransaction> begun = new TreeMap<>();

    private long readings;
    private long values;
    private int committed;
    private int aborted;
    private int unknown;
    private final List<Integer> victims = new ArrayList<>();
    private int lost;

    TransactionRace(long seed, int machines, int replication, Faults faults) {
        this.seed = seed;
        this.machines = machines;
        this.replication = replication;
        this.faults = faults;
        clientsOfMachine = machines == 3 ? 2 : 1;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        FabricSettings settings = seed % 2 == 0
                ? FabricSettings.DEFAULT
                : FabricSettings.adversary().with(NetworkSettings.DEFAULT.withBufferBytes(4096));
        cluster = new FarmCluster(seed, settings, machines, replication, Set.of()).functions(FUNCTIONS);
        if (faults != Faults.SHORT) {
            cluster.lookingEvery(500 * MICROSECOND);
        }
    }

    ListVerdict run() {
        cluster.run(1, it -> {
            for (int i = 0; i < LISTS; i++) {
                lists.put("x" + i, make(i % machines));
            }
            cluster.fabric().scheduler().stalls(seed % 4 < 2 ? 15 : 80, 500 * MICROSECOND);
            Map<Integer, SimulatedThread> clients = new TreeMap<>();
            for (int client = 0; client < machines * clientsOfMachine; client++) {
                int number = client;
                clients.put(client, cluster.host(client % machines).start("client", () -> work(number)));
            }
            while (victims.size() < losses()) {
                int victim = random.nextInt(machines);
                if (!victims.contains(victim)) {
                    victims.add(victim);
                }
            }
            for (int machine = 0; faults == Faults.LOSS && machine < machines; machine++) {
                cluster.host(machine).driftClock(random.nextInt(-MOST_DRIFT_PPM, MOST_DRIFT_PPM + 1));
            }
            while (clients.entrySet().stream().anyMatch(this::goesOn)) {
                cluster.fabric().scheduler().sleep(random.nextLong(5000, 50_000) * MICROSECOND);
                happen();
            }
            while (lost < victims.size()) {
                loseNext();
            }
            cluster.until(() -> areRemoved(victims));
            cluster.fabric().heal();
            cluster.until(() -> clients.entrySet().stream().noneMatch(this::goesOn));
            cluster.until(cluster::isWhole);
            history.addAll(begun.values()); // outcomes that nobody was told
            readAll();
        });
        return ListAppendChecker.check(history, last);
    }

    /** True if none of these machines is a member of an epoch that is active. */
    private boolean areRemoved(List<Integer> some) {
        return some.stream()
                        .noneMatch(machine -> cluster.configuration().members().contains(machine))
                && cluster.ensemble().active() == cluster.configuration().epoch();
    }

    private boolean goesOn(Map.Entry<Integer, SimulatedThread> client) {
        return !client.getValue().isEnded()
                && cluster.host(client.getKey() % machines).isAlive();
    }

    private void happen() {
        int one = random.nextInt(machines);
        int other = (one + 1 + random.nextInt(machines - 1)) % machines;
        if (faults != Faults.SHORT) {
            if (lost < victims.size() && random.nextInt(3) == 0) {
                loseNext();
            }
        } else if (seed % 3 == 0) {
            cluster.fabric().reset(cluster.host(one), cluster.host(other));
        } else if (seed % 3 == 1) {
            long forNs = random.nextLong(300_000) * MICROSECOND;
            if (random.nextBoolean()) {
                cluster.host(one).pauseProcesses(forNs);
            } else {
                cluster.fabric().partition(cluster.host(one), cluster.host(other), forNs);
            }
        }
    }

    private int losses() {
        return switch (faults) {
            case SHORT -> 0;
            case KILL, LOSS, SESSION -> replication - 1;
            case COPY -> machines - replication;
        };
    }

    /** Some machine shall have no regions, or the rings say who has them, or all stays where it is. */
    private void changePolicy() {
        Set<Integer> drained = random.nextBoolean() ? Set.of(random.nextInt(machines)) : Set.of();
        cluster.node(member()).parts().member().setPolicy(new PlacementPolicy(Set.of(), drained, random.nextBoolean()));
    }

    /** The second one at any time, or while what the first one has left is recovered; or when nothing is left to do. */
    private void loseNext() {
        if (faults == Faults.COPY) {
            cluster.until(() -> areRemoved(victims.subList(0, lost)) && cluster.isWhole());
            changePolicy();
            cluster.fabric().scheduler().sleep(random.nextLong(1, 200_000) * MICROSECOND);
            cluster.until(cluster::isWhole);
        } else if (lost > 0 && random.nextBoolean()) {
            cluster.until(() -> cluster.ensemble().active() > 1);
            cluster.fabric().scheduler().sleep(random.nextLong(1, 30_000) * MICROSECOND);
        }
        lose(victims.get(lost++));
    }

    private void lose(int machine) {
        long longNs = random.nextLong(2500, 4500) * MILLISECOND;
        if (faults == Faults.SESSION) {
            cluster.ensemble().expel(machine, random.nextLong(1, 2100) * MILLISECOND);
            return;
        }
        switch (faults == Faults.LOSS ? random.nextInt(6) : 0) {
            case 0 -> cluster.host(machine).kill();
            case 1 -> cluster.host(machine).powerOff();
            case 2 -> cluster.host(machine).pauseProcesses(longNs);
            case 3 -> cluster.host(machine).pause(longNs);
            case 4 ->
                cluster.fabric()
                        .partition(cluster.host(machine), cluster.ensemble().node(), longNs);
            default -> cluster.ensemble().expel(machine);
        }
    }

    private void readAll() {
        lists.forEach((key, address) -> last.put(key, readLast(address)));
    }

    private long make(int machine) {
        FarmNode node = cluster.node(machine);
        if (node.transact(1, transaction -> transaction.allocate(LENGTH, FarmAddress.NONE))
                instanceof TransactionOutcome.Committed<Long>(Long address)) {
            return Objects.requireNonNull(address);
        }
        throw new AssertionError("no list");
    }

    private List<Long> readLast(long address) {
        FarmNode node = cluster.node(member());
        if (node.transact(MOST_ATTEMPTS, transaction -> list(transaction.read(address, LENGTH)))
                instanceof TransactionOutcome.Committed<List<Long>>(List<Long> list)) {
            return Objects.requireNonNull(list);
        }
        throw new AssertionError("a list stays locked");
    }

    private int member() {
        return cluster.configuration().members().stream()
                .filter(machine -> cluster.host(machine).isAlive())
                .findFirst()
                .orElseThrow();
    }

    private void work(int client) {
        FarmNode node = cluster.node(client % machines);
        try {
            for (int i = 0; i < TRANSACTIONS; i++) {
                transact(client, node);
                cluster.fabric().scheduler().sleep(random.nextLong(3000) * MICROSECOND);
            }
        } catch (FarmException e) {
            if (!node.isOver()) {
                throw e;
            }
        }
    }

    private void transact(int client, FarmNode node) {
        if (random.nextInt(5) == 0) {
            ship(client, node);
            return;
        }
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
        begin(client, invoked, reads, appends);
        TransactionBody<Void> body = transaction -> {
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
        };
        TransactionOutcome<?> outcome =
                client % 2 == 0 ? node.transact(1, body) : cluster.polled(client % machines, body);
        requireKnown(node, outcome);
        record(client, outcome, invoked, reads, appends);
    }

    /** A machine that is a member gets to know what came of what it has begun. */
    private static void requireKnown(FarmNode node, TransactionOutcome<?> outcome) {
        if (outcome instanceof TransactionOutcome.Unknown<?> && !node.isOver()) {
            throw new AssertionError(outcome + " at a machine that is a member");
        }
    }

    /** Appends by a function that runs at the primary, and says nothing of what was there. */
    private void ship(int client, FarmNode node) {
        String key = "x" + random.nextInt(LISTS);
        Map<String, Long> appends = Map.of(key, ++values);
        long invoked = ++readings;
        begin(client, invoked, Map.of(), appends);
        byte[] argument = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(values)
                .array();
        TransactionOutcome<Long> outcome = node.ship(1, Objects.requireNonNull(lists.get(key)), APPEND, argument);
        record(client, outcome, invoked, Map.of(), appends);
    }

    private void begin(int client, long invoked, Map<String, List<Long>> reads, Map<String, Long> appends) {
        begun.put(
                client,
                new ListTransaction(
                        "client" + client, invoked, Operation.NEVER, ListTransaction.Outcome.UNKNOWN, reads, appends));
    }

    private void record(
            int client,
            TransactionOutcome<?> outcome,
            long invoked,
            Map<String, List<Long>> reads,
            Map<String, Long> appends) {
        ListTransaction.Outcome told = switch (outcome) {
            case TransactionOutcome.Committed<?> _ -> ListTransaction.Outcome.COMMITTED;
            case TransactionOutcome.Aborted<?> _ -> ListTransaction.Outcome.ABORTED;
            case TransactionOutcome.Unknown<?> _ -> ListTransaction.Outcome.UNKNOWN;
        };
        committed += told == ListTransaction.Outcome.COMMITTED ? 1 : 0;
        aborted += told == ListTransaction.Outcome.ABORTED ? 1 : 0;
        unknown += told == ListTransaction.Outcome.UNKNOWN ? 1 : 0;
        long returned = told == ListTransaction.Outcome.UNKNOWN ? Operation.NEVER : ++readings;
        history.add(new ListTransaction("client" + client, invoked, returned, told, reads, appends));
        begun.remove(client);
    }

    private static List<Long> list(ObjectImage image) {
        List<Long> list = new ArrayList<>();
        for (int i = 0; i < image.getLong(FIRST); i++) {
            list.add(image.getLong(FIRST + (i + 1) * Long.BYTES));
        }
        return list;
    }

    static void append(ObjectImage image, long value) {
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

    int unknown() {
        return unknown;
    }

    @Override
    public String toString() {
        return "seed " + seed + ", " + machines + " machines, " + replication + " of each region, " + faults + ": "
                + committed + " committed, " + aborted + " aborted";
    }
}
