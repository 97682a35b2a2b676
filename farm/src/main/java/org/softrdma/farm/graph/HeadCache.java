package org.softrdma.farm.graph;

import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointer;

/**
 * Pointers to the heads of lists, as nodes have told them: what is in it may be old, and a READ finds that out. A new one may
 * take the place of another. One thread.
 */
final class HeadCache {
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final int shift;
    private final long[] nodes;
    private final int[] nodeIncarnations;
    private final long[] addresses;
    private final int[] lengths;
    private final int[] incarnations;

    /**
     * Empty.
     *
     * @param bits 2 to this power may be in it
     */
    HeadCache(int bits) {
        shift = Long.SIZE - bits;
        nodes = new long[1 << bits];
        nodeIncarnations = new int[1 << bits];
        addresses = new long[1 << bits];
        lengths = new int[1 << bits];
        incarnations = new int[1 << bits];
    }

    /** Objects begin at multiples of 16, and there are no more types than that. */
    private static long name(FatPointer node, int type) {
        return node.address() + type;
    }

    private int place(long name) {
        return (int) ((name * SPREAD) >>> shift);
    }

    /** Where a head is, from 0 on; -1 if it is not there, or is that of another node that was or is at the same place. */
    int find(FatPointer node, int type) {
        long name = name(node, type);
        int place = place(name);
        boolean isThere = nodes[place] == name
                && nodeIncarnations[place] == node.incarnation()
                && addresses[place] != FarmAddress.NONE;
        return isThere ? place : -1;
    }

    long address(int place) {
        return addresses[place];
    }

    int length(int place) {
        return lengths[place];
    }

    int incarnation(int place) {
        return incarnations[place];
    }

    void put(FatPointer node, int type, FatPointer head) {
        long name = name(node, type);
        int place = place(name);
        nodes[place] = name;
        nodeIncarnations[place] = node.incarnation();
        addresses[place] = head.address();
        lengths[place] = head.length();
        incarnations[place] = head.incarnation();
    }

    void remove(FatPointer node, int type) {
        int place = find(node, type);
        if (place >= 0) {
            addresses[place] = FarmAddress.NONE;
        }
    }
}
