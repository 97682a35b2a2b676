package org.softrdma.cli.farm;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.farm.graph.Edge;
import org.softrdma.farm.graph.Edges;
import org.softrdma.farm.graph.GraphChanges;
import org.softrdma.farm.graph.LinkBenchGraph;
import org.softrdma.farm.graph.PolledGraph;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.farm.node.TransactionOutcome;

/** Tao's operations on a graph. The node's thread; whoever waits may read while it is at rest. */
final class TaoLoad extends WindowLoad implements PolledGraph.GraphHandler {
    private final PolledGraph graph;
    private final GraphChanges changes;
    private final FatPointer[] names;
    private final TaoChoice choice;
    private final TaoOperation[] operations;
    private final @Nullable TransactionBody<?>[] bodies;
    private final Deque<FatPointer> addedNodes = new ArrayDeque<>();
    private final Map<TaoOperation, Histogram> latencies = new EnumMap<>(TaoOperation.class);
    private long readsBefore;
    private long readsAtRest;
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
        choice = new TaoChoice(names.length, updatePercent, seed);
        operations = new TaoOperation[window];
        bodies = new TransactionBody<?>[window];
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
        boolean ignored = graph.startRange(names[warmed / types], warmed % types, TaoChoice.RANGE, place);
        warmed++;
    }

    private void beginDrawn(int place) {
        choice.next(addedNodes.size());
        FatPointer name = names[choice.node()];
        bodies[place] = null;
        operations[place] = choice.operation();
        boolean begun = switch (choice.operation()) {
            case OBJ_GET -> graph.startObject(name, place);
            case ASSOC_RANGE -> graph.startRange(name, choice.type(), TaoChoice.RANGE, place);
            case ASSOC_COUNT -> graph.startCount(name, choice.type(), place);
            case ASSOC_GET -> graph.startFind(name, choice.type(), others(), place);
            case ASSOC_TIME_RANGE ->
                graph.startTimeRange(name, choice.type(), 0, Long.MAX_VALUE, TaoChoice.NEWEST, place);
            case ASSOC_ADD, ASSOC_DELETE, OBJ_UPDATE, OBJ_ADD, OBJ_DELETE -> {
                TransactionBody<?> body = change(name);
                bodies[place] = body;
                yield graph.startChange(body, place);
            }
        };
        if (!begun) {
            throw new IllegalStateException("the window of the graph is narrower than that of the load");
        }
    }

    private Set<FatPointer> others() {
        Set<FatPointer> others = new HashSet<>();
        for (int other : choice.others()) {
            others.add(names[other]);
        }
        return others;
    }

    private TransactionBody<?> change(FatPointer name) {
        return switch (choice.operation()) {
            case OBJ_UPDATE -> changes.updateObject(name, choice.data());
            case OBJ_ADD -> changes.addObject(1, choice.data(), 0, name.address());
            case OBJ_DELETE -> changes.deleteObject(addedNodes.remove());
            case ASSOC_DELETE -> changes.deleteEdge(name, choice.type(), names[choice.others()[0]]);
            case ASSOC_ADD -> {
                byte[] data = new byte[LinkBenchGraph.EDGE_DATA];
                yield changes.addEdge(name, choice.type(), new Edge(names[choice.others()[0]], choice.time(), data));
            }
            case OBJ_GET, ASSOC_RANGE, ASSOC_COUNT, ASSOC_GET, ASSOC_TIME_RANGE ->
                throw new IllegalArgumentException(choice.operation() + " changes nothing");
        };
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
