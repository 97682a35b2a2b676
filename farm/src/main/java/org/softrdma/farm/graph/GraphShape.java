package org.softrdma.farm.graph;

import java.util.List;

/**
 * What all objects of a graph have in common. Immutable.
 *
 * @param inverses for each type of associations the type of those that lead back, which may be the same; {@link #NONE} if
 *     they have none. Types are numbers from 0 on
 * @param listBytes header and payload of the longest object that a list of associations consists of
 */
public record GraphShape(List<Integer> inverses, int listBytes) {
    /** No associations lead back. */
    public static final int NONE = -1;

    /** Types that a graph may have. */
    public static final int MOST_TYPES = 1 << 4;

    /** The shortest object that a list consists of. */
    static final int SHORTEST_LIST = 1 << 7;

    /** One type that leads both ways, as between friends; one with an inverse; lists of 1 KiB. */
    public static final GraphShape DEFAULT = new GraphShape(List.of(0, 2, 1), 1 << 10);

    /** Checks. */
    public GraphShape {
        inverses = List.copyOf(inverses);
        if (inverses.isEmpty() || inverses.size() > MOST_TYPES) {
            throw new IllegalArgumentException(inverses.size() + " types of associations: expected 1 to " + MOST_TYPES);
        }
        for (int type = 0; type < inverses.size(); type++) {
            int inverse = inverses.get(type);
            if (inverse != NONE && (inverse < 0 || inverse >= inverses.size() || inverses.get(inverse) != type)) {
                throw new IllegalArgumentException("type " + type + " has the inverse " + inverse
                        + ": expected a type whose inverse it is, or " + NONE);
            }
        }
        if (Integer.bitCount(listBytes) != 1 || listBytes < SHORTEST_LIST) {
            throw new IllegalArgumentException(
                    "listBytes=" + listBytes + ": expected a power of two, at least " + SHORTEST_LIST);
        }
    }

    /** How many types of associations there are. */
    public int types() {
        return inverses.size();
    }

    /** The type of the associations that lead back, or {@link #NONE}. */
    int inverse(int type) {
        return inverses.get(type);
    }

    /** Checks that there is a type of associations. */
    void requireType(int type) {
        if (type < 0 || type >= inverses.size()) {
            throw new IllegalArgumentException("type " + type + ": the graph has types 0 to " + (inverses.size() - 1));
        }
    }

    /** The longest data of an association. */
    public int longestData() {
        return listBytes - EdgeListDescriptor.EDGES_OFFSET - EdgeDescriptor.DATA_OFFSET;
    }

    /** Header and payload of an object for so many bytes of associations. */
    int listLength(int edgeBytes) {
        int needed = EdgeListDescriptor.EDGES_OFFSET + edgeBytes;
        int length = SHORTEST_LIST;
        while (length < needed) {
            length <<= 1;
        }
        return length;
    }
}
