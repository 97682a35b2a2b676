package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/**
 * A part of the list of a node's associations of one type, the newest first, little endian. It has at least one.
 *
 * <pre>
 *  16 fat pointer to the next part | 32 u32 how many | 36 u32 where they end | 40 {@link EdgeDescriptor associations}
 * </pre>
 */
final class EdgeListDescriptor {
    private static final int NEXT_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final int COUNT_OFFSET = NEXT_OFFSET + FatPointerDescriptor.LENGTH;
    private static final int END_OFFSET = COUNT_OFFSET + Integer.BYTES;

    /** Where the newest is. */
    static final int EDGES_OFFSET = END_OFFSET + Integer.BYTES;

    private EdgeListDescriptor() {}

    static FatPointer next(ObjectImage list) {
        return FatPointerDescriptor.get(list, NEXT_OFFSET);
    }

    static void next(ObjectImage list, FatPointer next) {
        FatPointerDescriptor.put(list, NEXT_OFFSET, next);
    }

    /** Address of the next part. */
    static long nextAddress(ObjectImage list) {
        return FatPointerDescriptor.address(list, NEXT_OFFSET);
    }

    static int nextLength(ObjectImage list) {
        return FatPointerDescriptor.length(list, NEXT_OFFSET);
    }

    static int nextIncarnation(ObjectImage list) {
        return FatPointerDescriptor.incarnation(list, NEXT_OFFSET);
    }

    static int count(ObjectImage list) {
        return list.getInt(COUNT_OFFSET);
    }

    /** Where its associations end. */
    static int end(ObjectImage list) {
        return list.getInt(END_OFFSET);
    }

    /** An object of zeroes becomes a part without associations. */
    static void begin(ObjectImage list) {
        list.putInt(END_OFFSET, EDGES_OFFSET);
    }

    /** Where the association that leads to a node is, or 0. */
    static int find(ObjectImage list, FatPointer to) {
        for (int edge = EDGES_OFFSET; edge < end(list); edge += EdgeDescriptor.lengthAt(list, edge)) {
            if (EdgeDescriptor.to(list, edge).equals(to)) {
                return edge;
            }
        }
        return 0;
    }

    /** Where an association of a time belongs: before the first one that is not newer, or at the end. */
    static int place(ObjectImage list, long time) {
        int edge = EDGES_OFFSET;
        while (edge < end(list) && EdgeDescriptor.time(list, edge) > time) {
            edge += EdgeDescriptor.lengthAt(list, edge);
        }
        return edge;
    }

    /** Puts an association where it belongs; there is room for it. */
    static void insert(ObjectImage list, int at, Edge edge) {
        int length = EdgeDescriptor.length(edge.dataLength());
        list.move(at, at + length, end(list) - at);
        EdgeDescriptor.put(list, at, edge);
        resize(list, 1, length);
    }

    static void remove(ObjectImage list, int at) {
        int length = EdgeDescriptor.lengthAt(list, at);
        list.move(at + length, at, end(list) - at - length);
        resize(list, -1, -length);
    }

    /** Takes the associations of another part from a place on. */
    static void take(ObjectImage list, ObjectImage from, int at) {
        int bytes = end(from) - at;
        int moved = 0;
        for (int edge = at; edge < end(from); edge += EdgeDescriptor.lengthAt(from, edge)) {
            moved++;
        }
        list.put(end(list), from, at, bytes);
        resize(list, moved, bytes);
    }

    /** Forgets its associations from a place on. */
    static void cut(ObjectImage list, int at) {
        int cut = 0;
        for (int edge = at; edge < end(list); edge += EdgeDescriptor.lengthAt(list, edge)) {
            cut++;
        }
        resize(list, -cut, at - end(list));
    }

    private static void resize(ObjectImage list, int count, int bytes) {
        list.putInt(COUNT_OFFSET, count(list) + count);
        list.putInt(END_OFFSET, end(list) + bytes);
    }
}
