package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FatPointer;

/**
 * An association of a node.
 *
 * @param to node that it leads to
 * @param time of it, which orders the associations of a node
 * @param data of the application
 */
public record Edge(FatPointer to, long time, byte[] data) {
    /** Copies the data. */
    public Edge {
        data = data.clone();
    }

    /** A copy of it. */
    @Override
    public byte[] data() {
        return data.clone();
    }
}
