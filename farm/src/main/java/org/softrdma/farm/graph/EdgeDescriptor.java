package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/**
 * An association within a list, or within an answer, little endian.
 *
 * <pre>
 *   0 fat pointer to the node that it leads to, 16 | 16 i64 time | 24 u32 bytes of data | 28 u32 0 | 32 data, padded to 8
 * </pre>
 */
final class EdgeDescriptor {
    private static final int TIME_OFFSET = FatPointerDescriptor.LENGTH;
    private static final int DATA_LENGTH_OFFSET = TIME_OFFSET + Long.BYTES;
    static final int DATA_OFFSET = DATA_LENGTH_OFFSET + Long.BYTES;

    private EdgeDescriptor() {}

    /** Bytes of one with so many bytes of data. */
    static int length(int dataLength) {
        return DATA_OFFSET + (dataLength + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
    }

    /** Bytes of one. */
    static int lengthAt(ObjectImage list, int edge) {
        return length(list.getInt(edge + DATA_LENGTH_OFFSET));
    }

    static FatPointer to(ObjectImage list, int edge) {
        return FatPointerDescriptor.get(list, edge);
    }

    static long time(ObjectImage list, int edge) {
        return list.getLong(edge + TIME_OFFSET);
    }

    static Edge get(ObjectImage list, int edge) {
        byte[] data = new byte[list.getInt(edge + DATA_LENGTH_OFFSET)];
        list.get(edge + DATA_OFFSET, data);
        return new Edge(to(list, edge), time(list, edge), data);
    }

    static void put(ObjectImage list, int edge, Edge value) {
        list.clear(edge, length(value.dataLength()));
        FatPointerDescriptor.put(list, edge, value.to());
        list.putLong(edge + TIME_OFFSET, value.time());
        list.putInt(edge + DATA_LENGTH_OFFSET, value.dataLength());
        value.putData(list, edge + DATA_OFFSET);
    }
}
