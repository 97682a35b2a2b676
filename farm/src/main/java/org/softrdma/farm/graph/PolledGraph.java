package org.softrdma.farm.graph;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.PolledReads;
import org.softrdma.farm.node.PolledTransactions;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.farm.node.TransactionOutcome;

/**
 * What {@link FarmGraph} does, without waiting, for an application on the node's thread: it begins some operations, calls
 * {@link FarmNode#doWork}, and takes what has come. Nodes, counts and ranges allocate nothing. The node's thread.
 */
public final class PolledGraph {
    private final FarmNode node;
    private final GraphShape shape;
    private final PolledReads reads;
    private final PolledTransactions transactions;
    private final Operation[] operations;
    private final IntArrayList free = new IntArrayList();
    private final Told told = new Told();
    private int ended;
    private long begunReads;

    /** Takes what has come. It may begin others. */
    public interface GraphHandler {
        /**
         * A node has come.
         *
         * @param tag of the operation
         * @param found false if there is no such node
         * @param value the count of its associations, or the bytes of its data
         */
        void onNode(long tag, boolean found, long value);

        /**
         * Associations have come.
         *
         * @param tag of the operation
         * @param found false if there is no such node
         * @param edges what was found; until this returns
         */
        void onEdges(long tag, boolean found, Edges edges);

        /**
         * A change is over.
         *
         * @param tag of the operation
         * @param outcome what came of it; whoever wants what was aborted starts it again
         */
        void onChange(long tag, TransactionOutcome<?> outcome);

        /**
         * It cannot be.
         *
         * @param tag of the operation
         * @param reason why
         */
        void onFailure(long tag, String reason);
    }

    private enum Kind {
        DATA,
        COUNT,
        RANGE,
        FIND,
        FIND_ELSEWHERE,
        CHANGE
    }

    private final class Operation {
        private final RangeRead range;
        private Kind kind = Kind.DATA;
        private long tag;
        private int type;
        private FatPointer name = FatPointer.NONE;
        private EdgeQuery query = new EdgeQuery(0, Set.of(), 0, 0, 1);

        Operation(HeadCache heads) {
            range = new RangeRead(heads);
        }

        boolean read(int place) {
            begunReads++;
            return kind == Kind.RANGE
                    ? reads.startPointer(range.address(), range.length(), range.incarnation(), place)
                    : reads.startPointer(name.address(), name.length(), name.incarnation(), place);
        }
    }

    /** What reads and transactions tell, by the place of the operation. */
    private final class Told implements PolledReads.ReadHandler, PolledTransactions.OutcomeHandler {
        private @Nullable GraphHandler handler;

        private GraphHandler handler() {
            return Objects.requireNonNull(handler);
        }

        @Override
        public void onObject(long place, ObjectImage image) {
            Operation operation = operations[(int) place];
            if (operation.kind != Kind.RANGE) {
                long value = operation.kind == Kind.DATA
                        ? NodeDescriptor.dataLength(image)
                        : NodeDescriptor.count(image, operation.type);
                end(place);
                handler().onNode(operation.tag, true, value);
            } else {
                operation.range.take(image);
                goOn(place, operation);
            }
        }

        @Override
        public void onGone(long place) {
            Operation operation = operations[(int) place];
            if (operation.kind != Kind.RANGE) {
                end(place);
                handler().onNode(operation.tag, false, 0);
            } else {
                operation.range.gone();
                goOn(place, operation);
            }
        }

        private void goOn(long place, Operation operation) {
            if (operation.range.address() == FarmAddress.NONE) {
                handler().onEdges(operation.tag, !operation.range.isMissing(), operation.range.found());
                end(place);
            } else {
                require(operation.read((int) place));
            }
        }

        @Override
        public void onFailure(long place, String reason) {
            end(place);
            handler().onFailure(operations[(int) place].tag, reason);
        }

        @Override
        public void onOutcome(long place, TransactionOutcome<?> outcome) {
            Operation operation = operations[(int) place];
            switch (operation.kind) {
                case FIND -> onFound(place, operation, outcome);
                case FIND_ELSEWHERE -> {
                    if (outcome instanceof TransactionOutcome.Committed<?>(Object value)) {
                        found(place, operation, Optional.ofNullable((Edges) value));
                    } else {
                        readThem(place, operation);
                    }
                }
                case DATA, COUNT, RANGE, CHANGE -> {
                    end(place);
                    handler().onChange(operation.tag, outcome);
                }
            }
        }

        private void onFound(long place, Operation operation, TransactionOutcome<?> outcome) {
            if (outcome instanceof TransactionOutcome.Committed<?>(Object value)
                    && value instanceof ByteBuffer answer
                    && answer.getLong(0) != GraphFunctions.ELSEWHERE) {
                found(place, operation, FarmGraph.found(answer));
            } else {
                operation.kind = Kind.FIND_ELSEWHERE;
                readThem(place, operation);
            }
        }

        private void readThem(long place, Operation operation) {
            require(transactions.start(new GraphChanges(shape).find(operation.name, operation.query), place));
        }

        private void found(long place, Operation operation, Optional<Edges> edges) {
            end(place);
            handler().onEdges(operation.tag, edges.isPresent(), edges.orElseGet(Edges::new));
        }

        @Override
        public void onFailure(long place, Throwable reason) {
            onFailure(place, String.valueOf(reason.getMessage()));
        }
    }

    private PolledGraph(FarmNode node, GraphShape shape, int window) {
        this.node = node;
        this.shape = shape;
        reads = node.polledReads(window + 1); // one that is being told may begin another
        transactions = node.polledTransactions(window);
        operations = new Operation[window];
        HeadCache heads = new HeadCache(FarmGraph.HEAD_BITS);
        for (int place = 0; place < window; place++) {
            operations[place] = new Operation(heads);
            free.addInt(place);
        }
    }

    /**
     * Of a graph.
     *
     * @param node of this machine
     * @param shape of the graph
     * @param window how many operations may be under way
     */
    public static PolledGraph of(FarmNode node, GraphShape shape, int window) {
        return new PolledGraph(node, shape, window);
    }

    private static void require(boolean started) {
        if (!started) {
            throw new IllegalStateException("a window is full although the operation has a place in it");
        }
    }

    private int take(Kind kind, long tag) {
        if (free.isEmpty()) {
            return -1;
        }
        int place = free.removeAt(free.size() - 1);
        operations[place].kind = kind;
        operations[place].tag = tag;
        return place;
    }

    private void end(long place) {
        free.addInt((int) place);
        ended++;
    }

    private boolean startNode(Kind kind, FatPointer name, int type, long tag) {
        int place = take(kind, tag);
        if (place < 0) {
            return false;
        }
        operations[place].name = name;
        operations[place].type = type;
        require(operations[place].read(place));
        return true;
    }

    /**
     * Begins to read a node: {@link GraphHandler#onNode} has the length of its data.
     *
     * @param name of the node
     * @param tag names the operation
     * @return false if as many as may be are under way
     */
    public boolean startObject(FatPointer name, long tag) {
        return startNode(Kind.DATA, name, 0, tag);
    }

    /**
     * Begins to read how many associations of a type a node has.
     *
     * @param name of the node
     * @param type of them
     * @param tag names the operation
     * @return false if as many as may be are under way
     */
    public boolean startCount(FatPointer name, int type, long tag) {
        shape.requireType(type);
        return startNode(Kind.COUNT, name, type, tag);
    }

    /**
     * Begins to read the newest associations of a node.
     *
     * @param name of the node
     * @param type of them
     * @param limit how many at most
     * @param tag names the operation
     * @return false if as many as may be are under way
     */
    public boolean startRange(FatPointer name, int type, int limit, long tag) {
        shape.requireType(type);
        int place = take(Kind.RANGE, tag);
        if (place < 0) {
            return false;
        }
        operations[place].range.begin(name, type, limit);
        require(operations[place].read(place));
        return true;
    }

    /**
     * Begins to look for associations that lead to some nodes.
     *
     * @param name of the node
     * @param type of them
     * @param to names of these nodes, at least one
     * @param tag names the operation
     * @return false if as many as may be are under way
     */
    public boolean startFind(FatPointer name, int type, Set<FatPointer> to, long tag) {
        return startFind(name, EdgeQuery.leadingTo(type, to), tag);
    }

    /**
     * Begins to look for the newest associations of some time.
     *
     * @param name of the node
     * @param type of them
     * @param from time of the oldest
     * @param until time of the newest
     * @param limit how many at most
     * @param tag names the operation
     * @return false if as many as may be are under way
     */
    public boolean startTimeRange(FatPointer name, int type, long from, long until, int limit, long tag) {
        return startFind(name, new EdgeQuery(type, Set.of(), from, until, limit), tag);
    }

    private boolean startFind(FatPointer name, EdgeQuery query, long tag) {
        shape.requireType(query.type());
        int place = take(Kind.FIND, tag);
        if (place < 0) {
            return false;
        }
        operations[place].name = name;
        operations[place].query = query;
        byte[] call = GraphCallDescriptor.find(name, query, FarmGraph.room(node));
        require(transactions.startAsk(name.address(), GraphFunctions.FIND, call, place));
        return true;
    }

    /**
     * Begins a change.
     *
     * @param change of {@link FarmGraph#changes}
     * @param tag names the operation
     * @return false if as many as may be are under way
     */
    public boolean startChange(TransactionBody<?> change, long tag) {
        int place = take(Kind.CHANGE, tag);
        if (place < 0) {
            return false;
        }
        require(transactions.start(change, place));
        return true;
    }

    /** READs that nodes, counts and ranges have taken; one that is repeated because an object was being changed is one. */
    public long reads() {
        return begunReads;
    }

    /** How many are under way, or have come and were not taken yet. */
    public int outstanding() {
        return operations.length - free.size();
    }

    /**
     * Tells what has come.
     *
     * @param handler takes it; it may begin others
     * @return how many operations are over
     */
    public int poll(GraphHandler handler) {
        int before = ended;
        told.handler = handler;
        int ignored = reads.poll(told) + transactions.poll(told);
        return ended - before;
    }
}
