package org.softrdma.farm.graph;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.farm.node.TransactionOutcome;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.stores.Outcome;

/**
 * A graph over the machines of an address space, with the operations of Facebook's Tao (section 6.4 of the paper). A node is
 * an object, and a fat pointer is its name. Its associations are lists of objects near it, one for each type, the newest
 * first; the node has pointers to their heads and counts them.
 *
 * <p>A node and a count are one READ, and so are the newest associations, as the pointer to a list's head is remembered.
 * Looking for some associations is shipped to the machine that has the list. Changes are transactions, which change an
 * association and the one that leads back together. All of this is strictly serializable, but {@link #range} where it READs
 * several parts of a list, one after the other: it tells everything once that was there all the time.
 *
 * <p>One thread, but not the node's; each thread has its own. {@link PolledGraph} is for the node's thread.
 */
public final class FarmGraph {
    /** What every machine of the cluster must have among its functions. */
    public static final Map<Integer, ShippedFunction> FUNCTIONS = GraphFunctions.ALL;

    /** Heads of lists that are remembered, as a power of two. */
    static final int HEAD_BITS = 17;

    private static final int ATTEMPTS = 1000;
    private static final int MOST_RESTARTS = 10_000;
    /** Bytes of an answer besides the associations. */
    private static final int MESSAGE_ROOM = 128;

    private final FarmNode node;
    private final GraphShape shape;
    private final long address;
    private final GraphChanges changes;
    private final RangeRead range = new RangeRead(new HeadCache(HEAD_BITS));
    private final ObjectImage image = new ObjectImage();

    private FarmGraph(FarmNode node, GraphShape shape, long address) {
        this.node = node;
        this.shape = shape;
        this.address = address;
        changes = new GraphChanges(shape);
    }

    /**
     * Makes a graph without nodes.
     *
     * @param node of this machine
     * @param shape of the graph
     * @throws FarmException if there is no room
     */
    public static FarmGraph create(FarmNode node, GraphShape shape) {
        TransactionOutcome<Long> made = node.transact(ATTEMPTS, transaction -> {
            long at = transaction.allocate(GraphDescriptor.LENGTH, FarmAddress.NONE);
            GraphDescriptor.put(transaction.write(at), shape);
            return at;
        });
        if (made instanceof TransactionOutcome.Committed<Long>(Long at)) {
            return new FarmGraph(node, shape, Objects.requireNonNull(at));
        }
        throw new FarmException("the graph was not made: " + made);
    }

    /**
     * A graph that somebody has made.
     *
     * @param node of this machine
     * @param address that {@link #address} says there
     * @throws FarmException if there is none
     */
    public static FarmGraph open(FarmNode node, long address) {
        return new FarmGraph(node, GraphDescriptor.shape(node.read(address, GraphDescriptor.LENGTH)), address);
    }

    /** Where it is, for {@link #open} on other machines. */
    public long address() {
        return address;
    }

    /** What its objects have in common. */
    public GraphShape shape() {
        return shape;
    }

    /** Its changes, for transactions that the application begins itself. */
    public GraphChanges changes() {
        return changes;
    }

    // ---- nodes

    /**
     * Adds a node.
     *
     * @param kind of the application
     * @param data of the application
     * @param room bytes of data that it may have later
     * @param near an address that it is to be near; {@link FarmAddress#NONE}
     * @return its name
     * @throws FarmException if there is no room, or nobody knows whether it was added
     */
    public FatPointer addObject(int kind, byte[] data, int room, long near) {
        TransactionOutcome<FatPointer> outcome = node.transact(ATTEMPTS, changes.addObject(kind, data, room, near));
        if (outcome instanceof TransactionOutcome.Committed<FatPointer>(FatPointer name)) {
            return Objects.requireNonNull(name);
        }
        throw new FarmException("the node was not added: " + outcome);
    }

    /**
     * What a node says of itself: one READ.
     *
     * @param name of the node
     * @return empty if there is no such node
     * @throws FarmException if its region is lost, or this machine is no member any more
     */
    public Optional<GraphObject> object(FatPointer name) {
        return node.read(name, image)
                ? Optional.of(new GraphObject(NodeDescriptor.kind(image), NodeDescriptor.data(image, shape.types())))
                : Optional.empty();
    }

    /**
     * Replaces the data of a node.
     *
     * @param name of the node
     * @param data of the application
     * @return STORED; MISSING if there is no such node; FULL if it has no room for them; GAVE_UP if others had it locked all
     *     the time; LOST if nobody knows
     */
    public Outcome updateObject(FatPointer name, byte[] data) {
        return change(changes.updateObject(name, data));
    }

    /**
     * Removes a node without associations.
     *
     * @param name of the node
     * @return REMOVED; MISSING if there is no such node; GAVE_UP if others had it locked all the time; LOST if nobody knows
     * @throws IllegalStateException if it has associations
     */
    public Outcome deleteObject(FatPointer name) {
        return change(changes.deleteObject(name));
    }

    // ---- associations

    /**
     * Sets an association, and the one that leads back if the type has an inverse.
     *
     * @param from name of the node that has it
     * @param type of it
     * @param edge the rest
     * @return STORED; MISSING if there is no such node; GAVE_UP if others had them locked all the time; LOST if nobody knows
     */
    public Outcome addEdge(FatPointer from, int type, Edge edge) {
        return change(changes.addEdge(from, type, edge));
    }

    /**
     * Removes an association, and the one that leads back.
     *
     * @param from name of the node that has it
     * @param type of it
     * @param to name of the node that it leads to
     * @return REMOVED; MISSING if there is none; GAVE_UP if others had them locked all the time; LOST if nobody knows
     */
    public Outcome deleteEdge(FatPointer from, int type, FatPointer to) {
        return change(changes.deleteEdge(from, type, to));
    }

    /**
     * Gives an association another type, with its time and data, and the one that leads back with it.
     *
     * @param from name of the node that has it
     * @param type of it
     * @param to name of the node that it leads to
     * @param newType that it gets; one of this type that leads to the same node is replaced
     * @return STORED; MISSING if there is none; GAVE_UP if others had them locked all the time; LOST if nobody knows
     */
    public Outcome changeEdgeType(FatPointer from, int type, FatPointer to, int newType) {
        return change(changes.changeEdgeType(from, type, to, newType));
    }

    private Outcome change(TransactionBody<Outcome> body) {
        return switch (node.transact(ATTEMPTS, body)) {
            case TransactionOutcome.Committed<Outcome>(Outcome outcome) -> Objects.requireNonNull(outcome);
            case TransactionOutcome.Aborted<Outcome> _ -> Outcome.GAVE_UP;
            case TransactionOutcome.Unknown<Outcome> _ -> Outcome.LOST;
        };
    }

    /**
     * How many associations of a type a node has: one READ.
     *
     * @param name of the node
     * @param type of them
     * @return empty if there is no such node
     */
    public OptionalLong count(FatPointer name, int type) {
        shape.requireType(type);
        return node.read(name, image) ? OptionalLong.of(NodeDescriptor.count(image, type)) : OptionalLong.empty();
    }

    /**
     * The newest associations of a node: one READ where the pointer to the list's head is known and they are there, and one
     * for each part of the list more.
     *
     * @param name of the node
     * @param type of them
     * @param limit how many at most
     * @return empty if there is no such node; what was found holds until the next call
     */
    public Optional<Edges> range(FatPointer name, int type, int limit) {
        shape.requireType(type);
        range.begin(name, type, limit);
        for (int reads = 0; range.address() != FarmAddress.NONE; reads++) {
            if (reads == MOST_RESTARTS) {
                throw new FarmException("the list of a node's associations was being changed " + reads + " times");
            }
            if (node.read(new FatPointer(range.address(), range.length(), range.incarnation()), image)) {
                range.take(image);
            } else {
                range.gone();
            }
        }
        return range.isMissing() ? Optional.empty() : Optional.of(range.found());
    }

    /**
     * The associations that lead to some nodes.
     *
     * @param name of the node
     * @param type of them
     * @param to names of these nodes, at least one
     * @return empty if there is no such node
     */
    public Optional<Edges> find(FatPointer name, int type, Set<FatPointer> to) {
        return find(name, EdgeQuery.leadingTo(type, to));
    }

    /**
     * The newest associations of some time.
     *
     * @param name of the node
     * @param type of them
     * @param from time of the oldest
     * @param until time of the newest
     * @param limit how many at most
     * @return empty if there is no such node
     */
    public Optional<Edges> timeRange(FatPointer name, int type, long from, long until, int limit) {
        return find(name, new EdgeQuery(type, Set.of(), from, until, limit));
    }

    private Optional<Edges> find(FatPointer name, EdgeQuery query) {
        shape.requireType(query.type());
        byte[] call = GraphCallDescriptor.find(name, query, room(node));
        TransactionOutcome<ByteBuffer> told = node.ask(ATTEMPTS, name.address(), GraphFunctions.FIND, call);
        if (told instanceof TransactionOutcome.Committed<ByteBuffer>(ByteBuffer answer)
                && answer != null
                && answer.getLong(0) != GraphFunctions.ELSEWHERE) {
            return found(answer);
        }
        TransactionOutcome<Edges> read = node.transact(ATTEMPTS, changes.find(name, query));
        if (read instanceof TransactionOutcome.Committed<Edges>(Edges edges)) {
            return Optional.ofNullable(edges);
        }
        throw new FarmException("the list of a node's associations cannot be read: " + read);
    }

    /** Bytes of associations that a machine may tell. */
    static int room(FarmNode node) {
        return node.longestMessage() - MESSAGE_ROOM;
    }

    /** What a machine has told; empty if there is no such node. */
    static Optional<Edges> found(ByteBuffer answer) {
        if (answer.getLong(0) == GraphFunctions.MISSING) {
            return Optional.empty();
        }
        Edges edges = new Edges();
        edges.set(MemorySegment.ofBuffer(answer).asSlice(Long.BYTES));
        return Optional.of(edges);
    }
}
