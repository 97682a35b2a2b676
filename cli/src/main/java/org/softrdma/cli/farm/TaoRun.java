package org.softrdma.cli.farm;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
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
    private static final double P50 = 50;
    private static final double P99 = 99;
    private static final double NS_PER_US = 1e3;

    /**
     * What came of it.
     *
     * @param updatePercent how many of 100 operations are changes
     * @param round what was done
     * @param load what it has counted
     */
    record Result(int updatePercent, LoadRound round, TaoLoad load) {
        private long operations() {
            return round.operations();
        }

        /** Of all processes, for an operation. */
        private double cpuMicros(LoadRound.Use use) {
            return (use.cpuNs() + use.zookeeperNs()) / NS_PER_US / operations();
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
                    .put("operationsPerSecond", round.perSecond())
                    .put("p50Micros", micros(load.latencies(), P50))
                    .put("p99Micros", micros(load.latencies(), P99))
                    .put("readsPerRead", readsPerRead())
                    .put("aborted", load.aborted())
                    .put("lost", load.lost());
            round.use().ifPresent(use -> {
                row.put("deviceReadsPerOperation", (double) use.reads() / operations());
                if (updatePercent == 0) { // nothing else READs then
                    row.put("deviceReadsPerRead", (double) use.reads() / lockFree());
                }
                row.put("cpuMicrosPerOperation", cpuMicros(use));
            });
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
                    round.perSecond(),
                    micros(load.latencies(), P50),
                    micros(load.latencies(), P99),
                    readsPerRead());
            return text
                    + round.use()
                            .map(use -> String.format(
                                    Locale.ROOT,
                                    "; the devices count %.3f for each operation; CPU of all processes %.1f us an"
                                            + " operation",
                                    (double) use.reads() / operations(),
                                    cpuMicros(use)))
                            .orElse("");
        }
    }

    /**
     * Runs it.
     *
     * @param client this process
     * @param graph of the cluster
     * @param names of the nodes of the graph
     * @param local the machines, if they are children of this process
     */
    Result run(ClientOfCluster client, FarmGraph graph, FatPointer[] names, @Nullable LocalCluster local) {
        PolledGraph polled = PolledGraph.of(client.node().node(), graph.shape(), window);
        TaoLoad load = new TaoLoad(polled, graph.changes(), names, updatePercent, window, seed);
        client.node().run(load);
        try {
            load.go();
            while (!load.isWarm()) {
                LoadRound.look(client, load);
            }
            LoadRound.rest(client, load, warmUpNs);
            load.forget();
            return new Result(updatePercent, LoadRound.of(client, load, local, measuredNs), load);
        } finally {
            client.node().run(() -> 0);
        }
    }
}
