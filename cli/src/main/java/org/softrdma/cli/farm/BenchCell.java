package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.function.LongFunction;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.server.StoreRun;
import org.softrdma.bench.server.TransferStore;

/** Operations of one kind, so many under way, of one system, in rounds. The thread of the command. */
final class BenchCell {
    private static final String FARM = "farm";
    private static final double NS_PER_US = 1e3;
    private static final double P50 = 50;
    private static final double P99 = 99;
    private static final String RATE = "operationsPerSecond";
    private static final String CPU = "cpuMicros";
    private static final String READS = "readsPerOperation";
    private static final String WRITES = "writesPerOperation";
    private static final String ABORTED = "abortedPerOperation";

    private final String system;
    private final String operation;
    private final int window;
    private final LongFunction<Round> run;
    private final MedianOfRounds rounds = new MedianOfRounds();
    private final Histogram latencies = Latencies.histogram();

    /**
     * What one round was.
     *
     * @param wallNs how long
     * @param latencies of its operations
     * @param cpuNs of all processes, but for ZooKeeper
     * @param reads READs
     * @param writes WRITEs
     * @param aborted operations that began again
     */
    private record Round(long wallNs, Histogram latencies, long cpuNs, long reads, long writes, long aborted) {}

    private BenchCell(String system, String operation, int window, LongFunction<Round> run) {
        this.system = system;
        this.operation = operation;
        this.window = window;
        this.run = run;
    }

    /** A load on machines of FaRM. */
    static BenchCell of(String operation, int window, WindowLoad load, LocalCluster local, ClientOfCluster client) {
        return new BenchCell(FARM, operation, window, ns -> {
            load.forget();
            client.node().run(load);
            try {
                LoadRound round = LoadRound.of(client, load, local, ns);
                LoadRound.Use use = round.use().orElseThrow();
                if (load.lost() > 0) {
                    throw new MeasurementException("nobody knows what came of " + load.lost() + " operations");
                }
                return new Round(
                        round.wallNs(),
                        load.latencies().copy(),
                        use.cpuNs(),
                        use.reads(),
                        use.writes(),
                        load.aborted());
            } finally {
                client.node().run(() -> 0);
            }
        });
    }

    /** Transfers of another store. */
    static BenchCell of(TransferStore store, int window) {
        return new BenchCell(store.name(), "transfer", window, ns -> {
            ProcessesCpu cpu = ProcessesCpu.ofThisAnd(store.processes());
            StoreRun done = store.run(window, ns);
            return new Round(done.wallNs(), done.latencies(), cpu.usedNs(), 0, 0, 0);
        });
    }

    /** False of another store. */
    boolean isOfFarm() {
        return system.equals(FARM);
    }

    String operation() {
        return operation;
    }

    int window() {
        return window;
    }

    /** Runs it without keeping figures. */
    void warmUp(long ns) {
        Round ignored = run.apply(ns);
    }

    void round(long ns) {
        Round round = run.apply(ns);
        double operations = round.latencies.getTotalCount();
        latencies.add(round.latencies);
        rounds.add(RATE, operations * 1e9 / round.wallNs);
        rounds.add(CPU, round.cpuNs / NS_PER_US / operations);
        rounds.add(READS, round.reads / operations);
        rounds.add(WRITES, round.writes / operations);
        rounds.add(ABORTED, round.aborted / operations);
    }

    double cpuMicros() {
        return rounds.median(CPU);
    }

    double reads() {
        return rounds.median(READS);
    }

    double writes() {
        return rounds.median(WRITES);
    }

    private double micros(double percentile) {
        return latencies.getValueAtPercentile(percentile) / NS_PER_US;
    }

    static String head() {
        return String.format(
                Locale.ROOT,
                "%-14s %-10s %9s %9s %9s %9s %8s %7s %6s %7s",
                "",
                "",
                "under way",
                "/s",
                "p50 us",
                "p99 us",
                "CPU us",
                "WRITEs",
                "READs",
                "aborted");
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%-14s %-10s %9d %9.0f %9.0f %9.0f %8.1f %7.2f %6.3f %7.3f",
                system,
                operation,
                window,
                rounds.median(RATE),
                micros(P50),
                micros(P99),
                cpuMicros(),
                writes(),
                reads(),
                rounds.median(ABORTED));
    }

    ObjectNode json() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode row = mapper.createObjectNode();
        row.put("system", system).put("operation", operation).put("window", window);
        rounds.medians().forEach(row::put);
        row.put("p50Micros", micros(P50)).put("p99Micros", micros(P99));
        row.set("rounds", mapper.valueToTree(rounds.all()));
        return row;
    }
}
