package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;

/** An association of a node. Immutable. */
public final class Edge {
    private final FatPointer to;
    private final long time;
    private final byte[] data;

    /**
     * An association.
     *
     * @param to node that it leads to
     * @param time of it, which orders the associations of a node
     * @param data of the application, which is copied
     */
    public Edge(FatPointer to, long time, byte[] data) {
        this.to = to;
        this.time = time;
        this.data = data.clone();
    }

    /** The node that it leads to. */
    public FatPointer to() {
        return to;
    }

    /** The time of it. */
    public long time() {
        return time;
    }

    /** A copy of what the application has said of it. */
    public byte[] data() {
        return data.clone();
    }

    /** Bytes of that. */
    int dataLength() {
        return data.length;
    }

    /** Writes that into an object. */
    void putData(ObjectImage image, int offset) {
        image.put(offset, data);
    }

    /** The one that leads back. */
    Edge back(FatPointer from) {
        return new Edge(from, time, data);
    }
}
