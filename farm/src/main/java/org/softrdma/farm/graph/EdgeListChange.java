package org.softrdma.farm.graph;

import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmTransaction;

/**
 * Changes of a node's associations of one type, within a transaction.
 *
 * <p>Whoever has a pointer to the head can READ it at once, so it has to find out when that is the head no more: then the
 * incarnation of what was the head goes up, as in the paper, or it is freed. A part that is full is replaced by one of twice
 * the length, until it has the longest; then there is one part more.
 */
final class EdgeListChange {
    private final FarmTransaction transaction;
    private final GraphShape shape;
    private final FatPointer node;
    private final int type;
    private long made = FarmAddress.NONE;

    /**
     * Of a node.
     *
     * @param transaction that has read the node
     * @param shape of the graph
     * @param node whose associations they are
     * @param type of these
     */
    EdgeListChange(FarmTransaction transaction, GraphShape shape, FatPointer node, int type) {
        this.transaction = transaction;
        this.shape = shape;
        this.node = node;
        this.type = type;
    }

    /** Sets the association that leads to a node, whether there is one or not. */
    void put(Edge edge) {
        @Nullable Edge ignored = remove(edge.to());
        insert(edge);
        ObjectImage source = transaction.write(node.address());
        NodeDescriptor.count(source, type, NodeDescriptor.count(source, type) + 1);
    }

    /** Removes the association that leads to a node, which it gives back; null if there is none. */
    @Nullable
    Edge remove(FatPointer to) {
        FatPointer before = FatPointer.NONE;
        for (FatPointer at = head(); at.address() != FarmAddress.NONE; ) {
            ObjectImage list = part(at);
            int edge = EdgeListDescriptor.find(list, to);
            if (edge != 0) {
                Edge removed = EdgeDescriptor.get(list, edge);
                removeAt(before, at, edge);
                return removed;
            }
            before = at;
            at = EdgeListDescriptor.next(list);
        }
        return null;
    }

    private void removeAt(FatPointer before, FatPointer at, int edge) {
        ObjectImage list = transaction.write(at.address());
        EdgeListDescriptor.remove(list, edge);
        if (EdgeListDescriptor.count(list) == 0) {
            link(before, EdgeListDescriptor.next(list));
            transaction.free(at.address());
        }
        ObjectImage source = transaction.write(node.address());
        NodeDescriptor.count(source, type, NodeDescriptor.count(source, type) - 1);
    }

    private FatPointer head() {
        return NodeDescriptor.head(source(), type);
    }

    private ObjectImage source() {
        return required(transaction.read(node));
    }

    private ObjectImage part(FatPointer at) {
        return required(transaction.read(at));
    }

    private ObjectImage required(@Nullable ObjectImage image) {
        if (image == null) {
            throw transaction.contradiction("the list of a node's associations was being changed");
        }
        return image;
    }

    /** What follows a part, or is the head. */
    private void link(FatPointer before, FatPointer next) {
        if (before.address() == FarmAddress.NONE) {
            NodeDescriptor.head(transaction.write(node.address()), type, next);
        } else {
            EdgeListDescriptor.next(transaction.write(before.address()), next);
        }
    }

    /** Into the first part that has something older, or the last one. */
    private void insert(Edge edge) {
        FatPointer before = FatPointer.NONE;
        FatPointer at = head();
        while (at.address() != FarmAddress.NONE) {
            ObjectImage list = part(at);
            int place = EdgeListDescriptor.place(list, edge.time());
            FatPointer next = EdgeListDescriptor.next(list);
            if (place < EdgeListDescriptor.end(list) || next.address() == FarmAddress.NONE) {
                insert(before, at, place, edge);
                return;
            }
            before = at;
            at = next;
        }
        link(FatPointer.NONE, alone(edge, FatPointer.NONE));
    }

    private void insert(FatPointer before, FatPointer at, int place, Edge edge) {
        ObjectImage list = part(at);
        int needed = shape.listLength(EdgeListDescriptor.end(list)
                - EdgeListDescriptor.EDGES_OFFSET
                + EdgeDescriptor.length(edge.dataLength()));
        if (needed <= list.length()) {
            EdgeListDescriptor.insert(transaction.write(at.address()), place, edge);
        } else if (needed <= shape.listBytes()) {
            replace(before, at, needed, place, edge);
        } else if (place == EdgeListDescriptor.EDGES_OFFSET) {
            FatPointer next = before.address() == FarmAddress.NONE ? headNoMore(at) : at;
            link(before, alone(edge, next));
        } else {
            split(at, place, edge);
        }
    }

    private FatPointer headNoMore(FatPointer head) {
        ObjectImage list = transaction.write(head.address());
        list.nextIncarnation();
        return FatPointer.to(head.address(), list);
    }

    /** A part that has one association. */
    private FatPointer alone(Edge edge, FatPointer next) {
        ObjectImage list = begin(shape.listLength(EdgeDescriptor.length(edge.dataLength())), next);
        EdgeListDescriptor.insert(list, EdgeListDescriptor.EDGES_OFFSET, edge);
        return FatPointer.to(made, list);
    }

    /** A part that has none yet; {@link #made} is its address. */
    private ObjectImage begin(int length, FatPointer next) {
        made = transaction.allocate(length, node.address());
        ObjectImage list = transaction.write(made);
        EdgeListDescriptor.begin(list);
        EdgeListDescriptor.next(list, next);
        return list;
    }

    private void replace(FatPointer before, FatPointer at, int length, int place, Edge edge) {
        ObjectImage old = part(at);
        ObjectImage list = begin(length, EdgeListDescriptor.next(old));
        EdgeListDescriptor.take(list, old, EdgeListDescriptor.EDGES_OFFSET);
        EdgeListDescriptor.insert(list, place, edge);
        link(before, FatPointer.to(made, list));
        transaction.free(at.address());
    }

    /** What is older goes to a part of its own, and what is new behind what is newer. */
    private void split(FatPointer at, int place, Edge edge) {
        ObjectImage list = transaction.write(at.address());
        FatPointer next = EdgeListDescriptor.next(list);
        if (place < EdgeListDescriptor.end(list)) {
            ObjectImage older = begin(shape.listLength(EdgeListDescriptor.end(list) - place), next);
            EdgeListDescriptor.take(older, list, place);
            EdgeListDescriptor.cut(list, place);
            next = FatPointer.to(made, older);
        }
        if (shape.listLength(place - EdgeListDescriptor.EDGES_OFFSET + EdgeDescriptor.length(edge.dataLength()))
                <= list.length()) {
            EdgeListDescriptor.next(list, next);
            EdgeListDescriptor.insert(list, place, edge);
        } else {
            EdgeListDescriptor.next(list, alone(edge, next));
        }
    }
}
