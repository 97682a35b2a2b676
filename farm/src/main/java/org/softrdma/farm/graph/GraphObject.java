package org.softrdma.farm.graph;

/** What a node of a graph says of itself. Immutable. */
public final class GraphObject {
    private final int kind;
    private final byte[] data;

    GraphObject(int kind, byte[] data) {
        this.kind = kind;
        this.data = data.clone();
    }

    /** What kind of node it is, to the application. */
    public int kind() {
        return kind;
    }

    /** A copy of the data of the application. */
    public byte[] data() {
        return data.clone();
    }
}
