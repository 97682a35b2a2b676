package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/**
 * A node of a graph, little endian. A fat pointer to it is its name.
 *
 * <pre>
 *  16 u32 kind, which is the application's | 20 u32 bytes of data
 *  24 each type of associations: fat pointer to the head of their list, 16 | u64 how many there are
 *     data, and room for more
 * </pre>
 */
final class NodeDescriptor {
    private static final int KIND_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final int DATA_LENGTH_OFFSET = KIND_OFFSET + Integer.BYTES;
    private static final int LISTS_OFFSET = DATA_LENGTH_OFFSET + Integer.BYTES;
    private static final int LIST_LENGTH = FatPointerDescriptor.LENGTH + Long.BYTES;

    private NodeDescriptor() {}

    private static int dataOffset(int types) {
        return LISTS_OFFSET + types * LIST_LENGTH;
    }

    /** Header and payload of a node with room for so many bytes of data. */
    static int length(int types, int room) {
        return dataOffset(types) + room;
    }

    /** Bytes of data that it has room for. */
    static int room(ObjectImage node, int types) {
        return node.length() - dataOffset(types);
    }

    static int kind(ObjectImage node) {
        return node.getInt(KIND_OFFSET);
    }

    static void kind(ObjectImage node, int kind) {
        node.putInt(KIND_OFFSET, kind);
    }

    static int dataLength(ObjectImage node) {
        return node.getInt(DATA_LENGTH_OFFSET);
    }

    static byte[] data(ObjectImage node, int types) {
        byte[] data = new byte[dataLength(node)];
        node.get(dataOffset(types), data);
        return data;
    }

    static void data(ObjectImage node, int types, byte[] data) {
        node.putInt(DATA_LENGTH_OFFSET, data.length);
        node.put(dataOffset(types), data);
    }

    /** Where the pointer to the head of a list is. */
    static int headOffset(int type) {
        return LISTS_OFFSET + type * LIST_LENGTH;
    }

    static FatPointer head(ObjectImage node, int type) {
        return FatPointerDescriptor.get(node, headOffset(type));
    }

    static void head(ObjectImage node, int type, FatPointer head) {
        FatPointerDescriptor.put(node, headOffset(type), head);
    }

    static long count(ObjectImage node, int type) {
        return node.getLong(headOffset(type) + FatPointerDescriptor.LENGTH);
    }

    static void count(ObjectImage node, int type, long count) {
        node.putLong(headOffset(type) + FatPointerDescriptor.LENGTH, count);
    }
}
