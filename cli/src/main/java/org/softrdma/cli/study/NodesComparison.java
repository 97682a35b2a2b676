package org.softrdma.cli.study;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.softrdma.bench.compare.ComparePlan;
import org.softrdma.bench.compare.NodesRow;
import org.softrdma.bench.compare.NodesRow.Block;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.DesignConnections;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.bench.workload.Mix;
import org.softrdma.bench.workload.MixLoad;
import org.softrdma.bench.workload.MixOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreServerContext;

/**
 * Counts what Nessie does on several nodes of a fabric, as figures 9 to 11 of its paper vary it: how many choices are of pairs
 * nearby, how many filter bits a word has, and what a cache spares. Each node has a worker, and pairs of its own, which it has
 * put: they are nearby. The index is a fifth full, as the paper has it. One seed gives one result. Runs on the calling
 * thread. Of one use.
 */
final class NodesComparison {
    /** The design that has several nodes. */
    static final String DESIGN = "nessie";

    /** Fewest nodes. */
    static final int FEWEST = 2;

    /** Most nodes: those of the paper. */
    static final int MOST = 10;

    private static final int FILL = 5;
    private static final int CACHED = 100;
    private static final int USUAL_FILTER_BITS = 7;
    private static final List<Integer> LOCALITIES = List.of(0, 20, 40, 60, 80);
    private static final List<Integer> FILTER_BITS = List.of(0, 4, 7, 11);
    private static final List<Double> SKEWS = List.of(0.7, 0.9);
    private static final List<Mix> MIXES = List.of(Mix.C, Mix.B, Mix.A);
    /** The home of workers of all nodes: nothing is nearby, and nothing far. */
    private static final int EVERYWHERE = -1;
    /** Room for what PUTs take while entries rest: the data table has so many entries for a word of the index, as log2. */
    private static final int LOG_ROOM = 2;
    /** And at least so many, as each worker holds some free ones. */
    private static final int LEAST_LOG_ENTRIES = 12;
    /** For each node: a worker that stays, one that comes, and one of before, whose end is not noticed yet. */
    private static final int CONNECTIONS_OF_NODE = 3;

    private final ComparePlan plan;
    private final StoreDesign design = StoreDesigns.named(DESIGN);
    private final long seed;
    private final int operations;
    private final Consumer<String> said;
    private final int valueLength;
    private final List<NodesRow> rows = new ArrayList<>();

    /**
     * A comparison to come.
     *
     * @param plan its form of the design, window, number of pairs at most, and longest values
     * @param seed of the fabrics
     * @param operations of each row
     * @param said told what happens
     */
    NodesComparison(ComparePlan plan, long seed, int operations, Consumer<String> said) {
        this.plan = plan;
        this.seed = seed;
        this.operations = operations;
        this.said = said;
        valueLength =
                plan.valueLengths().stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /** Counts on a number of nodes. */
    List<NodesRow> run(int nodes) {
        said.accept("counting " + DESIGN + " on " + nodes + " nodes");
        for (int filterBits : FILTER_BITS) {
            on(nodes, filterBits, filterBits == USUAL_FILTER_BITS ? Store::countAll : Store::countFilter);
        }
        return List.copyOf(rows);
    }

    private void on(int nodes, int filterBits, Consumer<Store> work) {
        ComparisonPlace place = new ComparisonPlace(seed, nodes);
        place.fabric().run(place.client(), () -> {
            place.letTimePass();
            Store store = new Store(place, nodes, filterBits);
            try {
                store.insertAll();
                work.accept(store);
            } finally {
                store.workers.forEach(DesignConnections::close);
            }
            store.servers.forEach(ComparisonPlace.Serving::stop);
        });
    }

    /** The nodes of a store, and what is in it. Processes of one run. */
    private final class Store {
        private final ComparisonPlace place;
        private final int nodes;
        private final int filterBits;
        private final int pairsOfNode;
        private final MixPairs pairs;
        private final List<ComparisonPlace.Serving> servers = new ArrayList<>();
        /** One for each node. They stay: who comes after another one first looks at what that one has left behind. */
        private final List<DesignConnections> workers = new ArrayList<>();

        Store(ComparisonPlace place, int nodes, int filterBits) {
            this.place = place;
            this.nodes = nodes;
            this.filterBits = filterBits;
            int logIndex = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(Math.max(FILL, plan.pairs() / nodes * FILL));
            pairsOfNode = Math.max(1, (1 << logIndex) / FILL);
            pairs = new MixPairs(nodes * pairsOfNode, valueLength);
            for (int node = 0; node < nodes; node++) {
                servers.add(place.serve(node, design, serverContext(node, logIndex)));
            }
            for (int node = 0; node < nodes; node++) {
                workers.add(workers(node, 1, 0));
            }
        }

        private StoreServerContext serverContext(int node, int logIndex) {
            Map<String, String> options = Map.of(
                    "nodes", Integer.toString(nodes),
                    "node", Integer.toString(node),
                    "index", Integer.toString(logIndex),
                    "entries", Integer.toString(Math.max(logIndex + LOG_ROOM, LEAST_LOG_ENTRIES)),
                    "filter", Integer.toString(filterBits));
            return place.serverContext(plan, node, valueLength)
                    .maxConnections(CONNECTIONS_OF_NODE * nodes)
                    .options(options)
                    .conclude();
        }

        private StoreClientContext workerContext(int home, int cache) {
            return place.clientContext(plan, valueLength)
                    .options(Map.of("home", Integer.toString(home), "cache", Integer.toString(cache)))
                    .conclude();
        }

        /** Workers of some nodes. */
        private DesignConnections workers(int first, int count, int cache) {
            int[] home = {first};
            return new DesignConnections(
                    place.client().open(Map.of()),
                    true,
                    count,
                    device -> design.connect(device, workerContext(home[0]++, cache)));
        }

        /** Each node's pairs go where its worker puts them. */
        void insertAll() {
            for (int node = 0; node < nodes; node++) {
                DesignConnections worker = workers.get(node);
                int next = node * pairsOfNode;
                int[] stored = {0};
                while (stored[0] < pairsOfNode) {
                    while (next < (node + 1) * pairsOfNode
                            && worker.startPut(0, pairs.key(next), pairs.next(next), next)) {
                        next++;
                    }
                    if (worker.poll((tag, outcome, memory, offset, length) -> stored[0] += require(outcome)) == 0) {
                        place.fabric().scheduler().idle();
                    }
                }
            }
        }

        private int require(Outcome outcome) {
            if (outcome != Outcome.STORED) {
                throw new MeasurementException("a PUT on " + nodes + " nodes ended with " + outcome);
            }
            return 1;
        }

        void countAll() {
            LOCALITIES.forEach(this::countLocality);
            countFilter();
            for (Mix mix : MIXES) { // PUTs move pairs, so what only GETs comes first
                for (double skew : SKEWS) {
                    countCache(mix, skew, 0);
                    countCache(mix, skew, Math.max(1, pairs.size() / CACHED));
                }
            }
        }

        /** One worker after the other, so that the devices of the nodes tell what is far from it. */
        void countLocality(int percent) {
            Tally tally = new Tally();
            for (int home = 0; home < nodes; home++) {
                KeyChoice choice = new KeyChoice(
                        pairs.size(), new KeyChoice.WorkingSet(home * pairsOfNode, pairsOfNode, percent), seed + home);
                count(tally, workers.get(home), home, Mix.C, choice, operations / nodes);
            }
            rows.add(tally.row(Block.LOCALITY, percent, 0, 0, Mix.C));
        }

        void countFilter() {
            Tally tally = new Tally();
            count(tally, workers.getFirst(), 0, Mix.C, new KeyChoice(pairs.size(), 0, seed), operations);
            rows.add(tally.row(Block.FILTER, 0, 0, 0, Mix.C));
        }

        /** All workers at once, which meet at popular keys. What they do first fills their caches, and is not counted. */
        void countCache(Mix mix, double skew, int cache) {
            Tally tally = new Tally();
            try (DesignConnections all = workers(0, nodes, cache)) {
                KeyChoice choice = new KeyChoice(pairs.size(), skew, seed);
                count(new Tally(), all, EVERYWHERE, Mix.C, choice, operations);
                count(tally, all, EVERYWHERE, mix, choice, operations);
            }
            rows.add(tally.row(Block.CACHE, 0, cache, skew, mix));
        }

        private void count(Tally tally, DesignConnections loaded, int home, Mix mix, KeyChoice choice, long count) {
            MixLoad load = place.load(loaded, pairs, plan.maxWindow());
            tally.begin(loaded, home);
            tally.end(loaded, home, load.run(mix, choice, plan.maxWindow(), MixLoad.End.after(Math.max(1, count))));
        }

        /** What some workers have counted, and the devices of the nodes that are not theirs. */
        private final class Tally {
            private final Map<String, Long> counts = new TreeMap<>();
            private final Map<String, Long> errors = new TreeMap<>();
            private long done;

            void begin(DesignConnections loaded, int home) {
                add(loaded, home, -1);
            }

            void end(DesignConnections loaded, int home, MixOutcome outcome) {
                add(loaded, home, 1);
                done += outcome.operations();
                outcome.errors().forEach((fault, count) -> errors.merge(fault.name(), count, Long::sum));
            }

            private void add(DesignConnections loaded, int home, int sign) {
                for (StoreCounter counter : StoreCounter.values()) {
                    counts.merge(counter.name(), sign * loaded.counters().get(counter), Long::sum);
                }
                for (int node = 0; node < nodes; node++) {
                    if (home != EVERYWHERE && node != home) {
                        Map<String, Long> device = servers.get(node).device().counters();
                        counts.merge(NodesRow.FAR_READS, sign * device.getOrDefault("responderReads", 0L), Long::sum);
                        counts.merge(
                                NodesRow.FAR_READ_BYTES,
                                sign * device.getOrDefault("responderReadBytes", 0L),
                                Long::sum);
                    }
                }
            }

            NodesRow row(Block block, int localityPercent, int cache, double skew, Mix mix) {
                Map<String, Double> perOperation = new TreeMap<>();
                counts.forEach((name, count) -> {
                    if (count != 0) {
                        perOperation.put(name, (double) count / Math.max(1, done));
                    }
                });
                return new NodesRow(
                        block,
                        nodes,
                        pairs.size(),
                        localityPercent,
                        filterBits,
                        cache,
                        skew,
                        mix.name(),
                        done,
                        perOperation,
                        errors);
            }
        }
    }
}
