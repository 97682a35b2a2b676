package org.softrdma.farm.graph;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.IntArrayList;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;

/**
 * Associations that were found, the newest first. It is reused: taking what was found allocates nothing once it has been as
 * long. One thread.
 */
public final class Edges {
    private ObjectImage image = new ObjectImage();
    private final IntArrayList places = new IntArrayList();
    private int end;

    /** None. */
    public Edges() {}

    void clear() {
        places.clear();
        end = 0;
    }

    /** Bytes that it takes in a message. */
    int length() {
        return end;
    }

    /** Takes one of a list. */
    void add(ObjectImage list, int edge) {
        int length = EdgeDescriptor.lengthAt(list, edge);
        reserve(end + length);
        image.put(end, list, edge, length);
        places.addInt(end);
        end += length;
    }

    private void reserve(int bytes) {
        if (bytes > image.length()) {
            ObjectImage longer = new ObjectImage();
            longer.resize(2 * bytes);
            longer.put(0, image, 0, end);
            image = longer;
        }
    }

    /** Takes all that {@link #bytes} has given. */
    void set(MemorySegment bytes) {
        clear();
        int length = Math.toIntExact(bytes.byteSize());
        reserve(length);
        MemorySegment.copy(bytes, 0, image.segment(), 0, length);
        while (end < length) {
            places.addInt(end);
            end += EdgeDescriptor.lengthAt(image, end);
        }
    }

    /** All of them. */
    byte[] bytes() {
        byte[] bytes = new byte[end];
        image.get(0, bytes);
        return bytes;
    }

    /** How many there are. */
    public int size() {
        return places.size();
    }

    /**
     * The node that one leads to.
     *
     * @param index of it, from 0 on
     */
    public FatPointer to(int index) {
        return EdgeDescriptor.to(image, places.getInt(index));
    }

    /**
     * The time of one.
     *
     * @param index of it, from 0 on
     */
    public long time(int index) {
        return EdgeDescriptor.time(image, places.getInt(index));
    }

    /**
     * One of them.
     *
     * @param index of it, from 0 on
     */
    public Edge get(int index) {
        return EdgeDescriptor.get(image, places.getInt(index));
    }

    /** All of them. */
    public List<Edge> list() {
        List<Edge> list = new ArrayList<>();
        for (int index = 0; index < size(); index++) {
            list.add(get(index));
        }
        return list;
    }
}
