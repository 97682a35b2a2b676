package org.softrdma.cli.farm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.workload.KeyChoice;
import org.softrdma.farm.graph.Edge;
import org.softrdma.farm.graph.Edges;
import org.softrdma.farm.graph.GraphChanges;
import org.softrdma.farm.graph.LinkBenchGraph;
import org.softrdma.farm.graph.PolledGraph;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.farm.node.TransactionOutcome;

/**
 * Tao's operations on a graph. Nodes are drawn by Zipf's law, of 0.625 for the nodes themselves and 0.8 for their
 * associations, as in LinkBench. The node's thread; whoever waits may read while it is at rest.
 */
final class TaoLoad extends WindowLoad implements PolledGraph.GraphHandler {
    private static final double NODE_SKEW = 0.625;
    private static final double LINK_SKEW = 0.8;
    private static final int RANGE = 1000;
    private static final int NEWEST = 50;
    /** Nodes that are looked for: LinkBench's mean is 2.6. */
    private static final int MOST_WANTED = 5;

    private static final int KEPT = 200;
    private static final int PERCENT = 100;

    private final PolledGraph graph;
    private final GraphChanges changes;
    private final FatPointer[] names;
    private final int updatePercent;
    private final SplittableRandom random;
    private final KeyChoice nodes;
    private final KeyChoice links;
    private final TaoOperation[] operations;
    private final @Nullable TransactionBody<?>[] bodies;
    private final Deque<FatPointer[]> addedEdges = new ArrayDeque<>();
    private final Deque<FatPointer> addedNodes = new ArrayDeque<>();
    private final Map<TaoOperation, Histogram> latencies = new EnumMap<>(TaoOperation.class);
    private long readsBefore;
    private long readsAtRest;
    private long time;
    private int warmed;
    private volatile boolean warm;

    /**
     * A load.
     *
     * @param graph whose window is as wide
     * @param changes of the graph
     * @param names of its nodes
     * @param updatePercent how many of 100 operations are changes
     * @param window operations under way
     * @param seed decides which
     */
    TaoLoad(PolledGraph graph, GraphChanges changes, FatPointer[] names, int updatePercent, int window, long seed) {
        super(window);
        this.graph = graph;
        this.changes = changes;
        this.names = names;
        this.updatePercent = updatePercent;
        random = new SplittableRandom(seed);
        nodes = new KeyChoice(names.length, NODE_SKEW, seed);
        links = new KeyChoice(names.length, LINK_SKEW, seed + 1);
        operations = new TaoOperation[window];
        bodies = new TransactionBody<?>[window];
        time = System.currentTimeMillis();
        for (TaoOperation operation : TaoOperation.values()) {
            latencies.put(operation, Latencies.histogram());
        }
    }

    // ---- whoever waits

    /** True once all pointers to heads of lists are known. */
    boolean isWarm() {
        return warm;
    }

    @Override
    void forget() {
        super.forget();
        latencies.values().forEach(Histogram::reset);
        readsBefore = readsAtRest;
    }

    Histogram latencies(TaoOperation operation) {
        return Objects.requireNonNull(latencies.get(operation));
    }

    /** READs of nodes, counts and ranges that it has not forgotten. */
    long reads() {
        return readsAtRest - readsBefore;
    }

    // ---- the node's thread

    @Override
    void onRest() {
        readsAtRest = graph.reads();
    }

    @Override
    int poll() {
        return graph.poll(this);
    }

    @Override
    void begin(int place) {
        if (warmed < names.length * LinkBenchGraph.SHAPE.types()) {
            warmUp(place);
        } else {
            beginDrawn(place);
            warm = true;
        }
    }

    /** Each range once: then all pointers to heads are known. */
    private void warmUp(int place) {
        int types = LinkBenchGraph.SHAPE.types();
        operations[place] = TaoOperation.ASSOC_RANGE;
        boolean ignored = graph.startRange(names[warmed / types], warmed % types, RANGE, place);
        warmed++;
    }

    private void beginDrawn(int place) {
        boolean change = random.nextInt(PERCENT) < updatePercent;
        TaoOperation operation = TaoOperation.of(random.nextDouble(TaoOperation.all()), change);
        bodies[place] = null;
        int type = random.nextInt(LinkBenchGraph.SHAPE.types());
        boolean begun = switch (operation) {
            case OBJ_GET -> graph.startObject(names[nodes.next()], place);
            case ASSOC_RANGE -> graph.startRange(names[links.next()], type, RANGE, place);
            case ASSOC_COUNT -> graph.startCount(names[links.next()], type, place);
            case ASSOC_GET -> graph.startFind(names[links.next()], type, wanted(), place);
            case ASSOC_TIME_RANGE -> graph.startTimeRange(names[links.next()], type, 0, Long.MAX_VALUE, NEWEST, place);
            case ASSOC_ADD, ASSOC_DELETE, OBJ_UPDATE, OBJ_ADD, OBJ_DELETE -> {
                operation = beginChange(place, operation);
                yield true;
            }
        };
        operations[place] = operation;
        if (!begun) {
            throw new IllegalStateException("the window of the graph is narrower than that of the load");
        }
    }

    private Set<FatPointer> wanted() {
        Set<FatPointer> wanted = new HashSet<>();
        int count = 1 + random.nextInt(MOST_WANTED);
        while (wanted.size() < count && wanted.size() < names.length) {
            wanted.add(names[links.next()]);
        }
        return wanted;
    }

    private TaoOperation beginChange(int place, TaoOperation wish) {
        TaoOperation operation = wish;
        TransactionBody<?> body;
        if (wish == TaoOperation.OBJ_UPDATE) {
            byte[] data = new byte[LinkBenchGraph.NODE_DATA];
            random.nextBytes(data);
            body = changes.updateObject(names[nodes.next()], data);
        } else if (wish == TaoOperation.OBJ_ADD && addedNodes.size() >= KEPT) {
            operation = TaoOperation.OBJ_DELETE;
            body = changes.deleteObject(addedNodes.remove());
        } else if (wish == TaoOperation.OBJ_ADD) {
            byte[] data = new byte[LinkBenchGraph.NODE_DATA];
            body = changes.addObject(1, data, data.length, names[nodes.next()].address());
        } else if (addedEdges.size() >= KEPT) {
            FatPointer[] edge = addedEdges.remove();
            operation = TaoOperation.ASSOC_DELETE;
            body = changes.deleteEdge(edge[0], LinkBenchGraph.TYPE, edge[1]);
        } else {
            FatPointer from = names[links.next()];
            FatPointer to = names[random.nextInt(names.length)];
            addedEdges.add(new FatPointer[] {from, to});
            body = changes.addEdge(from, LinkBenchGraph.TYPE, new Edge(to, ++time, new byte[LinkBenchGraph.EDGE_DATA]));
        }
        bodies[place] = body;
        boolean ignored = graph.startChange(body, place);
        return operation;
    }

    private void end(long tag) {
        int place = (int) tag;
        latencies(operations[place]).recordValue(ended(place));
    }

    @Override
    public void onNode(long tag, boolean found, long value) {
        end(tag);
    }

    @Override
    public void onEdges(long tag, boolean found, Edges edges) {
        end(tag);
    }

    @Override
    public void onChange(long tag, TransactionOutcome<?> outcome) {
        TransactionBody<?> body = bodies[(int) tag];
        if (outcome instanceof TransactionOutcome.Aborted<?> && body != null) {
            aborts();
            boolean ignored = graph.startChange(body, tag);
            return;
        }
        if (outcome instanceof TransactionOutcome.Committed<?>(Object value) && value instanceof FatPointer name) {
            addedNodes.add(name);
        } else if (outcome instanceof TransactionOutcome.Unknown<?>) {
            loses();
        }
        end(tag);
    }

    @Override
    public void onFailure(long tag, String reason) {
        fail(reason, (int) tag);
    }
}
