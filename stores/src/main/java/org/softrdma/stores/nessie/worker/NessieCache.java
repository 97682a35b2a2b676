package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.agrona.collections.Long2LongHashMap;

/**
 * Copies of valid entries, the least recently used of which goes first (paper, section 4.1). What a word names does not
 * change, so a copy is right as long as the word is. Allocates nothing once it is full. Owned by the worker's thread.
 */
final class NessieCache {
    /** No place. */
    static final int NONE = -1;

    private final int capacity;
    private final int length;
    private final MemorySegment memory;
    private final Long2LongHashMap places = new Long2LongHashMap(NONE);
    private final long[] names;
    private final int[] newer;
    private final int[] older;
    private int newest = NONE;
    private int oldest = NONE;
    private int size;

    /**
     * An empty cache.
     *
     * @param capacity entries; 0 for none
     * @param length bytes of an entry
     */
    NessieCache(int capacity, int length) {
        if ((long) capacity * length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "cache=" + capacity + " of " + length + " bytes each: expected less than 2^31 bytes in all");
        }
        this.capacity = capacity;
        this.length = length;
        memory = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(capacity * length));
        names = new long[capacity];
        newer = new int[capacity];
        older = new int[capacity];
    }

    /** The place of an entry, which becomes the newest; {@link #NONE} if it is not there. */
    int find(long name) {
        int place = (int) places.get(name);
        if (place != NONE && place != newest) {
            unlink(place);
            linkNewest(place);
        }
        return place;
    }

    /** Where an entry begins in {@link #memory}. */
    long at(int place) {
        return (long) place * length;
    }

    MemorySegment memory() {
        return memory;
    }

    /** Keeps a copy of an entry, unless it has one. */
    void add(long name, MemorySegment source, long entry) {
        if (capacity == 0 || places.containsKey(name)) {
            return;
        }
        int place = size < capacity ? size++ : forgetOldest();
        names[place] = name;
        linkNewest(place);
        long ignored = places.put(name, place);
        MemorySegment.copy(source, entry, memory, at(place), length);
    }

    private int forgetOldest() {
        int place = oldest;
        unlink(place);
        long ignored = places.remove(names[place]);
        return place;
    }

    private void unlink(int place) {
        int next = newer[place];
        int previous = older[place];
        if (next == NONE) {
            newest = previous;
        } else {
            older[next] = previous;
        }
        if (previous == NONE) {
            oldest = next;
        } else {
            newer[previous] = next;
        }
    }

    private void linkNewest(int place) {
        newer[place] = NONE;
        older[place] = newest;
        if (newest == NONE) {
            oldest = place;
        } else {
            newer[newest] = place;
        }
        newest = place;
    }

    /** Forgets all. */
    void clear() {
        places.clear();
        Arrays.fill(names, 0);
        newest = NONE;
        oldest = NONE;
        size = 0;
    }
}
