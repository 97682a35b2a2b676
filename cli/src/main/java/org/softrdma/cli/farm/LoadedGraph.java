package org.softrdma.cli.farm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cluster.ClusterView;
import org.softrdma.farm.graph.Edge;
import org.softrdma.farm.graph.FarmGraph;
import org.softrdma.farm.graph.LinkBenchGraph;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.stores.Outcome;

/**
 * LinkBench's graph on a cluster: a hash table has the fat pointer of each node by its number. ZooKeeper keeps where it is, and
 * whether it is whole. Loading goes on where it was interrupted: nodes that the table has are not made again, and an association
 * that is set twice is one.
 *
 * @param data which graph it is
 * @param address where it is
 * @param map nodes by their numbers
 * @param isWhole whether all of it was loaded
 */
record LoadedGraph(LinkBenchGraph data, long address, LoadedMap map, boolean isWhole) {
    private static final String WHAT = "graph";
    private static final int HEX = 16;
    private static final int KEY = Long.BYTES;
    private static final int TIMES = 1 << 16;

    /** The graph of a cluster, if one was loaded. */
    static Optional<LoadedGraph> find(ClusterView view) {
        return view.data(WHAT)
                .map(values -> new LoadedGraph(
                        new LinkBenchGraph(
                                Integer.parseInt(values.getOrDefault("nodes", "0")),
                                Long.parseLong(values.getOrDefault("seed", "0"))),
                        Long.parseUnsignedLong(values.getOrDefault("graph", "0"), HEX),
                        LoadedMap.of(values),
                        Boolean.parseBoolean(values.get("whole"))));
    }

    private void tell(ClusterView view, boolean whole) {
        Map<String, String> values = new HashMap<>(map.values());
        values.put("nodes", String.valueOf(data.nodes()));
        values.put("seed", String.valueOf(data.seed()));
        values.put("graph", Long.toHexString(address));
        values.put("whole", String.valueOf(whole));
        view.data(WHAT, values);
    }

    /**
     * Loads a graph, or the rest of it.
     *
     * @param view of the cluster
     * @param node of this machine
     * @param data which
     * @param threads that load
     * @param say told how far it is
     */
    static LoadedGraph load(ClusterView view, FarmNode node, LinkBenchGraph data, int threads, Consumer<String> say) {
        Optional<LoadedGraph> there = find(view);
        if (there.isPresent() && !there.get().data.equals(data)) {
            LinkBenchGraph other = there.get().data;
            throw new MeasurementException("cluster '" + view.name() + "' has a graph of " + other.nodes()
                    + " nodes with seed " + other.seed() + " already: load that, or use another cluster");
        }
        if (there.isPresent() && there.get().isWhole) {
            say.accept("the graph is there already");
            return there.get();
        }
        LoadedGraph graph = there.orElseGet(() -> begin(view, node, data));
        graph.loadNodes(node, threads);
        say.accept("nodes: " + data.nodes());
        say.accept("associations: " + graph.loadEdges(node, threads) + ", and as many that lead back");
        graph.tell(view, true);
        return graph;
    }

    private static LoadedGraph begin(ClusterView view, FarmNode node, LinkBenchGraph data) {
        LoadedGraph made = new LoadedGraph(
                data,
                FarmGraph.create(node, LinkBenchGraph.SHAPE).address(),
                LoadedMap.create(node, data.nodes(), KEY, FatPointerDescriptor.LENGTH),
                false);
        made.tell(view, false);
        return made;
    }

    FarmGraph open(FarmNode node) {
        return FarmGraph.open(node, address);
    }

    private void loadNodes(FarmNode node, int threads) {
        List<Integer> regions = List.copyOf(node.configuration().regions().keySet());
        LoadThreads.run(threads, data.nodes(), () -> {
            FarmGraph graph = open(node);
            FarmMap names = map.open(node);
            return number -> {
                if (names.get(map.key(number)) == null) {
                    long near = FarmAddress.of(regions.get(number % regions.size()), 0);
                    byte[] bytes = new byte[LinkBenchGraph.NODE_DATA];
                    LoadedMap.put(names, map.key(number), bytes(graph.addObject(1, bytes, bytes.length, near)));
                }
            };
        });
    }

    /** Names of all nodes, by their numbers. */
    FatPointer[] names(FarmNode node, int threads) {
        FatPointer[] names = new FatPointer[data.nodes()];
        LoadThreads.run(threads, names.length, () -> {
            FarmMap open = map.open(node);
            return number -> names[number] = pointer(open.get(map.key(number)), number);
        });
        return names;
    }

    private long loadEdges(FarmNode node, int threads) {
        FatPointer[] names = names(node, threads);
        AtomicLong count = new AtomicLong();
        LoadThreads.run(threads, names.length, () -> {
            FarmGraph graph = open(node);
            return number -> {
                int[] drawn = data.drawn(number);
                for (int i = 0; i < drawn.length; i++) {
                    Edge edge =
                            new Edge(names[drawn[i]], (long) number * TIMES + i, new byte[LinkBenchGraph.EDGE_DATA]);
                    add(graph, names[number], edge);
                }
                count.addAndGet(drawn.length);
            };
        });
        return count.get();
    }

    private static void add(FarmGraph graph, FatPointer from, Edge edge) {
        Outcome outcome = graph.addEdge(from, LinkBenchGraph.TYPE, edge);
        if (outcome != Outcome.STORED) {
            throw new MeasurementException("an association was not set: " + outcome);
        }
    }

    private static byte[] bytes(FatPointer pointer) {
        ByteBuffer value = ByteBuffer.allocate(FatPointerDescriptor.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        FatPointerDescriptor.put(value, 0, pointer);
        return value.array();
    }

    private static FatPointer pointer(byte @Nullable [] bytes, int number) {
        if (bytes == null) {
            throw new MeasurementException("node " + number + " is not there: run `softrdma farm load` again");
        }
        return FatPointerDescriptor.get(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), 0);
    }
}
