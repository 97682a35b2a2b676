package org.softrdma.farm.graph;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmException;

/**
 * The object that says what a graph is like, little endian. Whoever makes the graph writes it, and nobody changes it.
 *
 * <pre>
 *  16 u64 what marks a graph | 24 u32 types | 28 u32 bytes of the longest list | 32 each of 16 types: i32 inverse
 * </pre>
 */
final class GraphDescriptor {
    private static final long MARK = 0x6867_7261_706d_7261L;
    private static final int MARK_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final int TYPES_OFFSET = MARK_OFFSET + Long.BYTES;
    private static final int LIST_OFFSET = TYPES_OFFSET + Integer.BYTES;
    private static final int INVERSES_OFFSET = LIST_OFFSET + Integer.BYTES;

    /** Bytes of header and payload. */
    static final int LENGTH = INVERSES_OFFSET + GraphShape.MOST_TYPES * Integer.BYTES;

    private GraphDescriptor() {}

    /** Writes it into an object of zeroes. */
    static void put(ObjectImage image, GraphShape shape) {
        image.putLong(MARK_OFFSET, MARK);
        image.putInt(TYPES_OFFSET, shape.types());
        image.putInt(LIST_OFFSET, shape.listBytes());
        for (int type = 0; type < shape.types(); type++) {
            image.putInt(INVERSES_OFFSET + type * Integer.BYTES, shape.inverse(type));
        }
    }

    /**
     * The shape of a graph.
     *
     * @throws FarmException if the object is that of no graph
     */
    static GraphShape shape(ObjectImage image) {
        int types = image.getInt(TYPES_OFFSET);
        if (image.getLong(MARK_OFFSET) != MARK || types < 1 || types > GraphShape.MOST_TYPES) {
            throw new FarmException("the object there is no graph");
        }
        List<Integer> inverses = new ArrayList<>();
        for (int type = 0; type < types; type++) {
            inverses.add(image.getInt(INVERSES_OFFSET + type * Integer.BYTES));
        }
        return new GraphShape(inverses, image.getInt(LIST_OFFSET));
    }
}
