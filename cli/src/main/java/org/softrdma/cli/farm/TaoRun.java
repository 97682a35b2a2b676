package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cluster.ClusterNode;
import org.softrdma.farm.graph.FarmGraph;
import org.softrdma.farm.graph.PolledGraph;
import org.softrdma.farm.memory.FatPointer;

/**
 * Measures Tao's operations on a graph for some time.
 *
 * @param updatePercent how many of 100 operations are changes
 * @param window operations under way
 * @param warmUpNs before it is measured
 * @param measuredNs how long it is measured
 * @param seed decides which operations
 */
record TaoRun(int updatePercent, int window, long warmUpNs, long measuredNs, long seed) {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final double P50 = 50;
    private static final double P99 = 99;
    private static final double NS_PER_US = 1e3;

    /**
     * What came of it.
     *
     * @param updatePercent how many of 100 operations are changes
     * @param wallNs how long it was measured
     * @param load what it has counted
     * @param deviceReads READs that the devices of all machines have answered meanwhile; empty if they are elsewhere
     * @param cpuMicros of all processes for each operation; empty if they are elsewhere
     */
    record Result(int updatePercent, long wallNs, TaoLoad load, OptionalLong deviceReads, OptionalDouble cpuMicros) {
        private long operations() {
            return load.latencies().getTotalCount();
        }

        private double perSecond() {
            return operations() / (wallNs / (double) TimeUnit.SECONDS.toNanos(1));
        }

        private long lockFree() {
            return TaoOperation.LOCK_FREE.stream()
                    .mapToLong(operation -> load.latencies(operation).getTotalCount())
                    .sum();
        }

        /** READs for each of obj_get, assoc_range and assoc_count. */
        double readsPerRead() {
            return (double) load.reads() / lockFree();
        }

        private static double micros(Histogram histogram, double percentile) {
            return histogram.getValueAtPercentile(percentile) / NS_PER_US;
        }

        ObjectNode json(ObjectMapper mapper, int replicas) {
            ObjectNode row = mapper.createObjectNode();
            row.put("replicas", replicas)
                    .put("updatePercent", updatePercent)
                    .put("operations", operations())
                    .put("operationsPerSecond", perSecond())
                    .put("p50Micros", micros(load.latencies(), P50))
                    .put("p99Micros", micros(load.latencies(), P99))
                    .put("readsPerRead", readsPerRead())
                    .put("aborted", load.aborted())
                    .put("lost", load.lost());
            deviceReads.ifPresent(reads -> row.put("deviceReadsPerOperation", (double) reads / operations()));
            if (updatePercent == 0) { // nothing else READs then
                deviceReads.ifPresent(reads -> row.put("deviceReadsPerRead", (double) reads / lockFree()));
            }
            cpuMicros.ifPresent(micros -> row.put("cpuMicrosPerOperation", micros));
            ObjectNode each = row.putObject("byOperation");
            for (TaoOperation operation : TaoOperation.values()) {
                Histogram histogram = load.latencies(operation);
                if (histogram.getTotalCount() > 0) {
                    each.putObject(operation.name().toLowerCase(Locale.ROOT))
                            .put("operations", histogram.getTotalCount())
                            .put("p50Micros", micros(histogram, P50))
                            .put("p99Micros", micros(histogram, P99));
                }
            }
            return row;
        }

        String text(int replicas) {
            String text = String.format(
                    Locale.ROOT,
                    "replicas %d, updates %d %%: %,.0f operations/s, p50 %.0f us, p99 %.0f us; %.3f READs for each of"
                            + " obj_get, assoc_range, assoc_count",
                    replicas,
                    updatePercent,
                    perSecond(),
                    micros(load.latencies(), P50),
                    micros(load.latencies(), P99),
                    readsPerRead());
            if (deviceReads.isPresent()) {
                text += String.format(
                        Locale.ROOT,
                        "; the devices count %.3f for each operation",
                        (double) deviceReads.getAsLong() / operations());
            }
            if (cpuMicros.isPresent()) {
                text += String.format(
                        Locale.ROOT, "; CPU of all processes %.1f us an operation", cpuMicros.getAsDouble());
            }
            return text;
        }
    }

    /**
     * Runs it.
     *
     * @param node of this process
     * @param graph of the cluster
     * @param names of the nodes of the graph
     * @param local the machines, if they are children of this process
     */
    Result run(ClusterNode node, FarmGraph graph, FatPointer[] names, @Nullable LocalCluster local) {
        PolledGraph polled = PolledGraph.of(node.node(), graph.shape(), window);
        TaoLoad load = new TaoLoad(polled, graph.changes(), names, updatePercent, window, seed);
        node.run(load);
        try {
            while (!load.isWarm()) {
                sleep(node, load, LOOK_NS);
            }
            sleep(node, load, warmUpNs);
            List<CpuClock> clocks = clocks(local);
            OptionalLong readsBefore = reads(local);
            List<CpuClock.Sample> before = clocks.stream().map(CpuClock::sample).toList();
            long beganNs = System.nanoTime();
            load.measure();
            sleep(node, load, measuredNs);
            load.stop();
            long patientUntilNs = System.nanoTime() + PATIENCE_NS;
            while (!load.isOver()) {
                requireRunning(node, load);
                if (System.nanoTime() - patientUntilNs > 0) {
                    throw new MeasurementException(
                            "some operations are not over after " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s");
                }
                LockSupport.parkNanos(LOOK_NS);
            }
            long wallNs = System.nanoTime() - beganNs;
            long cpuNs = 0;
            for (int i = 0; i < clocks.size(); i++) {
                cpuNs += clocks.get(i).sample().since(before.get(i)).totalNs();
            }
            OptionalLong reads = reads(local);
            OptionalLong counted = reads.isPresent()
                    ? OptionalLong.of(reads.getAsLong() - readsBefore.orElse(0))
                    : OptionalLong.empty();
            OptionalDouble cpu = clocks.isEmpty()
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(cpuNs / NS_PER_US / load.latencies().getTotalCount());
            requireRunning(node, load);
            return new Result(updatePercent, wallNs, load, counted, cpu);
        } finally {
            node.run(() -> 0);
        }
    }

    private static OptionalLong reads(@Nullable LocalCluster local) {
        return local == null ? OptionalLong.empty() : OptionalLong.of(local.reads());
    }

    private static List<CpuClock> clocks(@Nullable LocalCluster local) {
        List<CpuClock> clocks = new ArrayList<>();
        if (local != null) {
            clocks.add(CpuClock.ofThisProcess());
            local.processes().forEach(process -> clocks.add(CpuClock.ofProcess(process)));
        }
        return clocks;
    }

    private static void sleep(ClusterNode node, TaoLoad load, long ns) {
        long untilNs = System.nanoTime() + ns;
        for (long restNs = ns; restNs > 0; restNs = untilNs - System.nanoTime()) {
            requireRunning(node, load);
            LockSupport.parkNanos(Math.min(LOOK_NS, restNs));
        }
    }

    private static void requireRunning(ClusterNode node, TaoLoad load) {
        String failure = load.failure();
        if (node.isOver() || failure != null) {
            throw new MeasurementException(
                    failure == null ? "this process is no member any more" + LocalCluster.ADVICE : failure);
        }
    }
}
