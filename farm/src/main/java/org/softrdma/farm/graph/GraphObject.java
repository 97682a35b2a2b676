package org.softrdma.farm.graph;

/**
 * What a node of a graph says of itself.
 *
 * @param kind of the application
 * @param data of the application
 */
public record GraphObject(int kind, byte[] data) {
    /** Copies the data. */
    public GraphObject {
        data = data.clone();
    }

    /** A copy of it. */
    @Override
    public byte[] data() {
        return data.clone();
    }
}
