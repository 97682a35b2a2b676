package org.softrdma.farm.graph;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmTransaction;
import org.softrdma.farm.node.TransactionBody;
import org.softrdma.stores.Outcome;

/**
 * Changes of a graph, as bodies of transactions: for {@link org.softrdma.farm.node.FarmNode#transact}, or for {@link
 * org.softrdma.farm.node.PolledTransactions}. Immutable.
 */
public final class GraphChanges {
    private final GraphShape shape;

    GraphChanges(GraphShape shape) {
        this.shape = shape;
    }

    /**
     * A new node without associations; the outcome is its name.
     *
     * @param kind of the application
     * @param data of the application
     * @param room bytes of data that it may have later
     * @param near an address that it is to be near
     */
    public TransactionBody<FatPointer> addObject(int kind, byte[] data, int room, long near) {
        int length = NodeDescriptor.length(shape.types(), Math.max(room, data.length));
        byte[] bytes = data.clone();
        return transaction -> {
            long address = transaction.allocate(length, near);
            ObjectImage node = transaction.write(address);
            NodeDescriptor.kind(node, kind);
            NodeDescriptor.data(node, shape.types(), bytes);
            return FatPointer.to(address, node);
        };
    }

    /**
     * Replaces the data of a node: STORED; MISSING if there is no such node; FULL if it has no room for them.
     *
     * @param name of the node
     * @param data of the application
     */
    public TransactionBody<Outcome> updateObject(FatPointer name, byte[] data) {
        byte[] bytes = data.clone();
        return transaction -> {
            ObjectImage node = transaction.read(name);
            if (node == null) {
                return Outcome.MISSING;
            }
            if (bytes.length > NodeDescriptor.room(node, shape.types())) {
                return Outcome.FULL;
            }
            NodeDescriptor.data(transaction.write(name.address()), shape.types(), bytes);
            return Outcome.STORED;
        };
    }

    /**
     * Removes a node: REMOVED; MISSING if there is no such node. One that has associations stays: it throws {@link
     * IllegalStateException}. Associations of other nodes without an inverse may lead to it: they lead to nothing then.
     *
     * @param name of the node
     */
    public TransactionBody<Outcome> deleteObject(FatPointer name) {
        return transaction -> {
            ObjectImage node = transaction.read(name);
            if (node == null) {
                return Outcome.MISSING;
            }
            for (int type = 0; type < shape.types(); type++) {
                if (NodeDescriptor.count(node, type) > 0) {
                    throw new IllegalStateException("the node " + name + " has " + NodeDescriptor.count(node, type)
                            + " associations of type " + type + ": delete them first");
                }
            }
            transaction.free(name.address());
            return Outcome.REMOVED;
        };
    }

    /**
     * Sets an association, and the one that leads back if the type has an inverse: STORED; MISSING if there is no such node.
     * Where the type has no inverse nobody looks whether the other node is there.
     *
     * @param from name of the node that has it
     * @param type of it
     * @param edge the rest
     */
    public TransactionBody<Outcome> addEdge(FatPointer from, int type, Edge edge) {
        shape.requireType(type);
        if (edge.dataLength() > shape.longestData()) {
            throw new IllegalArgumentException("an association with " + edge.dataLength()
                    + " bytes of data: this graph has " + shape.longestData() + " at most");
        }
        return transaction -> add(transaction, from, type, edge);
    }

    private Outcome add(FarmTransaction transaction, FatPointer from, int type, Edge edge) {
        int inverse = shape.inverse(type);
        if (areMissing(transaction, from, edge.to(), inverse)) {
            return Outcome.MISSING;
        }
        new EdgeListChange(transaction, shape, from, type).put(edge);
        if (inverse != GraphShape.NONE) {
            new EdgeListChange(transaction, shape, edge.to(), inverse).put(edge.back(from));
        }
        return Outcome.STORED;
    }

    /**
     * Removes an association, and the one that leads back: REMOVED; MISSING if there is none.
     *
     * @param from name of the node that has it
     * @param type of it
     * @param to name of the node that it leads to
     */
    public TransactionBody<Outcome> deleteEdge(FatPointer from, int type, FatPointer to) {
        shape.requireType(type);
        return transaction -> delete(transaction, from, type, to) == null ? Outcome.MISSING : Outcome.REMOVED;
    }

    /** The association that was removed, with the one that leads back; null if there is none. */
    private @Nullable Edge delete(FarmTransaction transaction, FatPointer from, int type, FatPointer to) {
        int inverse = shape.inverse(type);
        if (areMissing(transaction, from, to, inverse)) {
            return null;
        }
        Edge removed = new EdgeListChange(transaction, shape, from, type).remove(to);
        if (removed != null && inverse != GraphShape.NONE) {
            @Nullable Edge ignored = new EdgeListChange(transaction, shape, to, inverse).remove(from);
        }
        return removed;
    }

    /**
     * Gives an association another type, with its time and data, and the one that leads back with it: STORED; MISSING if there
     * is none. One of the new type that leads to the same node is replaced. Where neither type has an inverse nobody looks
     * whether the other node is there.
     *
     * @param from name of the node that has it
     * @param type of it
     * @param to name of the node that it leads to
     * @param newType that it gets
     */
    public TransactionBody<Outcome> changeEdgeType(FatPointer from, int type, FatPointer to, int newType) {
        shape.requireType(type);
        shape.requireType(newType);
        return transaction -> {
            if (areMissing(transaction, from, to, shape.inverse(newType))) {
                return Outcome.MISSING;
            }
            Edge edge = delete(transaction, from, type, to);
            return edge == null ? Outcome.MISSING : add(transaction, from, newType, edge);
        };
    }

    private static boolean areMissing(FarmTransaction transaction, FatPointer from, FatPointer to, int inverse) {
        return transaction.read(from) == null || (inverse != GraphShape.NONE && transaction.read(to) == null);
    }

    /**
     * Looks for the associations that lead to some nodes, in a transaction that may do other things too; the outcome is null if
     * there is no such node.
     *
     * @param name of the node
     * @param type of them
     * @param to names of these nodes, at least one
     */
    public TransactionBody<Edges> find(FatPointer name, int type, Set<FatPointer> to) {
        shape.requireType(type);
        return find(name, EdgeQuery.leadingTo(type, to));
    }

    /** Looks for associations; the outcome is null if there is no such node. */
    TransactionBody<Edges> find(FatPointer name, EdgeQuery query) {
        return transaction -> {
            @Nullable ObjectImage node = transaction.read(name);
            if (node == null) {
                return null;
            }
            Edges found = new Edges();
            if (!query.find(node, transaction::read, found)) {
                throw transaction.contradiction("the list of a node's associations was being changed");
            }
            return found;
        };
    }
}
