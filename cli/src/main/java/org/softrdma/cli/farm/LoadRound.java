package org.softrdma.cli.farm;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * What a load has done for some time, from rest to rest.
 *
 * @param wallNs how long that was
 * @param operations that were begun and are over
 * @param use what it has taken of the machines; empty if they are elsewhere
 */
record LoadRound(long wallNs, long operations, Optional<Use> use) {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    /**
     * What a load has taken.
     *
     * @param reads READs that the devices of all machines have answered
     * @param writes WRITEs that the devices of all machines and of this process have taken
     * @param cpuNs of all machines and of this process
     * @param zookeeperNs of ZooKeeper
     */
    record Use(long reads, long writes, long cpuNs, long zookeeperNs) {}

    /** Measures what is used of the machines from now on. */
    private static final class Meter {
        private final LocalCluster local;
        private final ClientOfCluster client;
        private final LocalCluster.Counters counters;
        private final long clientWrites;
        private final ProcessesCpu machines;
        private final ProcessesCpu zookeepers;

        Meter(LocalCluster local, ClientOfCluster client) {
            this.local = local;
            this.client = client;
            counters = local.counters();
            clientWrites = client.writes();
            zookeepers = ProcessesCpu.of(local.zookeepers().processes());
            machines = ProcessesCpu.ofThisAnd(local.machineProcesses());
        }

        Use use() {
            long cpuNs = machines.usedNs();
            long zookeeperNs = zookeepers.usedNs();
            LocalCluster.Counters now = local.counters();
            return new Use(
                    now.reads() - counters.reads(),
                    now.writes() - counters.writes() + client.writes() - clientWrites,
                    cpuNs,
                    zookeeperNs);
        }
    }

    double perSecond() {
        return operations / (wallNs / (double) TimeUnit.SECONDS.toNanos(1));
    }

    /**
     * Lets a load go for some time.
     *
     * @param client whose thread runs it, and has done so before
     * @param load at rest
     * @param local the machines, if they are children of this process
     * @param ns how long
     */
    static LoadRound of(ClientOfCluster client, WindowLoad load, @Nullable LocalCluster local, long ns) {
        long operationsBefore = load.latencies().getTotalCount();
        Meter meter = local == null ? null : new Meter(local, client);
        long beganNs = System.nanoTime();
        load.go();
        rest(client, load, ns);
        long wallNs = System.nanoTime() - beganNs;
        Optional<Use> use = Optional.ofNullable(meter).map(Meter::use);
        return new LoadRound(wallNs, load.latencies().getTotalCount() - operationsBefore, use);
    }

    /**
     * Brings a load that goes to rest.
     *
     * @param client whose thread runs it
     * @param load that goes
     * @param ns how long it still goes
     */
    static void rest(ClientOfCluster client, WindowLoad load, long ns) {
        long untilNs = System.nanoTime() + ns;
        for (long restNs = ns; restNs > 0; restNs = untilNs - System.nanoTime()) {
            requireRunning(client, load);
            LockSupport.parkNanos(Math.min(LOOK_NS, restNs));
        }
        load.end();
        long patientUntilNs = System.nanoTime() + PATIENCE_NS;
        while (!load.isAtRest()) {
            requireRunning(client, load);
            if (System.nanoTime() - patientUntilNs > 0) {
                throw new MeasurementException(
                        "some operations are not over after " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s");
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
        requireRunning(client, load);
    }

    /**
     * Waits a little.
     *
     * @param client whose thread runs the load
     * @param load that goes
     */
    static void look(ClientOfCluster client, WindowLoad load) {
        requireRunning(client, load);
        LockSupport.parkNanos(LOOK_NS);
    }

    private static void requireRunning(ClientOfCluster client, WindowLoad load) {
        String failure = load.failure();
        if (client.node().isOver() || failure != null) {
            throw new MeasurementException(
                    failure == null ? "this process is no member any more" + LocalCluster.ADVICE : failure);
        }
    }
}
