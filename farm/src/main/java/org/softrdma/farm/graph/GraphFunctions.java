package org.softrdma.farm.graph;

import java.nio.ByteBuffer;
import java.util.Map;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.transaction.LocalObjects;
import org.softrdma.farm.transaction.ShippedFunction;

/** What a graph has its nodes' primaries do. The node's thread. */
final class GraphFunctions {
    /** Looks for associations, and tells them: {@link #FOUND}, {@link #MISSING}, {@link #ELSEWHERE}. */
    static final int FIND = 0x6661_7300;

    static final long FOUND = 0;

    /** There is no such node. */
    static final long MISSING = 1;

    /** A part of the list is on another machine, or what was found is longer than a message. */
    static final long ELSEWHERE = 2;

    static final Map<Integer, ShippedFunction> ALL = Map.of(FIND, GraphFunctions::find);

    private GraphFunctions() {}

    private static long find(LocalObjects objects, long address, ByteBuffer call) {
        GraphCallDescriptor.require(call);
        ObjectImage node = objects.read(GraphCallDescriptor.node(call));
        if (node == null) {
            return MISSING;
        }
        Edges found = new Edges();
        boolean all = GraphCallDescriptor.query(call)
                .find(node, at -> objects.has(at.address()) ? objects.read(at) : null, found);
        if (!all || found.length() > GraphCallDescriptor.room(call)) {
            return ELSEWHERE;
        }
        objects.tell(found.bytes());
        return FOUND;
    }
}
