package org.softrdma.farm.graph;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;

/**
 * Associations of a node that are looked for. Immutable.
 *
 * @param type of these
 * @param to nodes that they lead to; empty if that does not matter
 * @param from time of the oldest
 * @param until time of the newest
 * @param limit how many at most
 */
record EdgeQuery(int type, Set<FatPointer> to, long from, long until, int limit) {
    /** Where parts of a list are read. */
    @FunctionalInterface
    interface Parts {
        /** What a pointer points to, or null if that is no more. */
        @Nullable
        ObjectImage read(FatPointer pointer);
    }

    /** Checks, and copies the set. */
    EdgeQuery {
        if (limit < 1) {
            throw new IllegalArgumentException("limit=" + limit + ": expected at least 1");
        }
        to = Set.copyOf(to);
    }

    /** Those that lead to some nodes, at least one. */
    static EdgeQuery leadingTo(int type, Set<FatPointer> to) {
        if (to.isEmpty()) {
            throw new IllegalArgumentException("expected at least one node that associations are to lead to");
        }
        return new EdgeQuery(type, to, Long.MIN_VALUE, Long.MAX_VALUE, to.size());
    }

    private boolean matches(ObjectImage list, int edge) {
        return EdgeDescriptor.time(list, edge) <= until && (to.isEmpty() || to.contains(EdgeDescriptor.to(list, edge)));
    }

    private boolean isEnough(ObjectImage list, int edge, Edges found) {
        return found.size() >= limit || EdgeDescriptor.time(list, edge) < from;
    }

    /**
     * Looks.
     *
     * @param node which has them
     * @param parts reads its lists
     * @param found gets them
     * @return false if a part is no more
     */
    boolean find(ObjectImage node, Parts parts, Edges found) {
        found.clear();
        for (FatPointer at = NodeDescriptor.head(node, type); at.address() != FarmAddress.NONE; ) {
            ObjectImage list = parts.read(at);
            if (list == null) {
                return false;
            }
            for (int edge = EdgeListDescriptor.EDGES_OFFSET;
                    edge < EdgeListDescriptor.end(list);
                    edge += EdgeDescriptor.lengthAt(list, edge)) {
                if (isEnough(list, edge, found)) {
                    return true;
                }
                if (matches(list, edge)) {
                    found.add(list, edge);
                }
            }
            at = EdgeListDescriptor.next(list);
        }
        return true;
    }
}
