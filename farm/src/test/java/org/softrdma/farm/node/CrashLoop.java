package org.softrdma.farm.node;

import static org.softrdma.farm.node.NumberObjects.LENGTH;
import static org.softrdma.farm.node.NumberObjects.VALUE;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.space.FarmRegion;

/**
 * A few transactions on four machines, one of which dies at its n-th message; in a second kind another one dies at one of
 * its messages of the recovery, or of the copies that follow. In the end each transaction has taken effect everywhere or nowhere, as its application was
 * told, all replicas are equal, and nothing is locked.
 */
final class CrashLoop {
    private static final int MACHINES = 4;
    private static final long LOOK_NS = TimeUnit.MICROSECONDS.toNanos(500);

    /** Where a machine dies: before the n-th message that it sends or takes. */
    record Death(int machine, int message) {}

    private static final String NEVER = "no step";
    private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final int replication;
    private final Death first;
    private final @Nullable Death second;
    private final FarmCluster cluster;
    private final List<Long> objects = new ArrayList<>();
    private final List<@Nullable TransactionOutcome<?>> outcomes = new ArrayList<>();

    /**
     * A run.
     *
     * @param replication machines that have each region
     * @param first who dies while transactions commit
     * @param second who dies while they are recovered, or null
     */
    CrashLoop(long seed, int replication, Death first, @Nullable Death second) {
        this.replication = replication;
        this.first = first;
        this.second = second;
        cluster = new FarmCluster(seed, FabricSettings.DEFAULT, MACHINES, replication, Set.of()).lookingEvery(LOOK_NS);
    }

    /** True if all have died who were to. */
    boolean run() {
        Set<Integer> dead = new HashSet<>();
        cluster.run(1, it -> {
            for (int object = 0; object < 2 * MACHINES; object++) {
                objects.add(NumberObjects.make(cluster.node(object % MACHINES)));
            }
            for (int machine = 0; machine < MACHINES; machine++) {
                FarmNode node = cluster.node(machine);
                objects.forEach(address -> node.read(address, LENGTH));
            }
            cluster.fabric().scheduler().sleep(FarmCluster.SESSION_NS);
            Death next = second;
            if (next != null) {
                // Its messages count from the epoch on that the first death brings.
                cluster.ensemble().node().startHelper("fate", () -> {
                    cluster.until(() -> cluster.configuration().epoch() > 1);
                    cluster.host(next.machine).killAt(HostSteps.MESSAGE, next.message);
                });
            }
            cluster.host(first.machine).killAt(HostSteps.MESSAGE, first.message);
            List<SimulatedThread> clients = new ArrayList<>();
            clients.add(client(0, 0, 1, 2)); // of several machines
            clients.add(client(3, 3)); // of this one
            clients.add(client(2, MACHINES)); // of another one
            SimulatedThread functions = shipper(2, MACHINES + 1);
            cluster.until(() -> (clients.stream().allMatch(SimulatedThread::isEnded) && functions.isEnded())
                    || !cluster.host(first.machine).isAlive());
            cluster.fabric().scheduler().sleep(LATE_NS); // for the messages after the last was told
            if (cluster.host(first.machine).isAlive()) {
                return; // it has less to do
            }
            dead.add(first.machine);
            cluster.until(() -> isSettled(dead));
            if (next != null) {
                cluster.until(() -> !cluster.host(next.machine).isAlive() || cluster.isWhole());
                if (cluster.host(next.machine).isAlive()) {
                    cluster.host(next.machine).killAt(NEVER, 1);
                } else {
                    dead.add(next.machine);
                    cluster.until(() -> isSettled(dead));
                }
            }
            cluster.until(cluster::isWhole);
            check();
        });
        return dead.contains(first.machine) && (second == null || dead.contains(second.machine));
    }

    private boolean isSettled(Set<Integer> dead) {
        return dead.stream()
                        .noneMatch(machine -> cluster.configuration().members().contains(machine))
                && cluster.ensemble().active() == cluster.configuration().epoch();
    }

    /** Adds one to some objects. */
    private SimulatedThread client(int machine, int... which) {
        int number = outcomes.size();
        outcomes.add(null);
        return cluster.host(machine)
                .start(
                        "client",
                        () -> outcomes.set(number, cluster.node(machine).transact(1, transaction -> {
                            for (int object : which) {
                                NumberObjects.add(transaction, objects.get(object), 1L << (8 * number));
                            }
                            return null;
                        })));
    }

    private SimulatedThread shipper(int machine, int object) {
        int number = outcomes.size();
        outcomes.add(null);
        return cluster.host(machine)
                .start(
                        "client",
                        () -> outcomes.set(
                                number,
                                cluster.node(machine)
                                        .ship(1, objects.get(object), NumberObjects.ADD_AT, new byte[] {(byte) number
                                        })));
    }

    private void check() {
        FarmNode reader = cluster.node(cluster.configuration().members().stream()
                .filter(machine -> cluster.host(machine).isAlive())
                .findFirst()
                .orElseThrow());
        List<Long> values = new ArrayList<>();
        for (long address : objects) {
            RegionPlacement placement = placement(address);
            if (placement.isLost()) {
                values.add(null);
                continue;
            }
            long value = reader.read(address, LENGTH).getLong(VALUE);
            values.add(value);
            placement.machines().forEach(machine -> {
                FarmRegion region = Objects.requireNonNull(
                        cluster.node(machine).parts().space().region(FarmAddress.region(address)));
                ObjectImage image = new ObjectImage();
                region.writer().load(FarmAddress.offset(address), LENGTH, image);
                require(
                        image.getLong(VALUE) == value,
                        "machine " + machine + " has " + image.getLong(VALUE) + " of an object that is " + value);
                require((region.writer().version(FarmAddress.offset(address)) & 3) == 0, "it is locked at " + machine);
            });
        }
        require(values.stream().noneMatch(Objects::isNull), "a region is lost");
        requireWhole(0, List.of(0, 1, 2), values);
        requireWhole(1, List.of(3), values);
        requireWhole(2, List.of(MACHINES), values);
        requireWhole(3, List.of(MACHINES + 1), values);
    }

    /** All of a transaction is there, or nothing; and what its application was told. */
    private void requireWhole(int number, List<Integer> which, List<Long> values) {
        Set<Long> seen = new HashSet<>();
        which.forEach(object -> seen.add(Objects.requireNonNull(values.get(object)) >> (8 * number) & 255));
        TransactionOutcome<?> outcome = outcomes.get(number);
        require(seen.equals(Set.of(0L)) || seen.equals(Set.of(1L)), "half of transaction " + number + ": " + values);
        require(!(outcome instanceof TransactionOutcome.Committed<?>) || seen.contains(1L), "lost: " + values);
        require(!(outcome instanceof TransactionOutcome.Aborted<?>) || seen.contains(0L), "aborted: " + values);
    }

    private RegionPlacement placement(long address) {
        return Objects.requireNonNull(cluster.configuration().regions().get(FarmAddress.region(address)));
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + "; told " + outcomes + "; " + cluster.configuration());
        }
    }

    @Override
    public String toString() {
        return "r = " + replication + ", " + first + (second == null ? "" : ", then " + second);
    }
}
