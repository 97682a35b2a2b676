package org.softrdma.sim.queue;

import org.softrdma.verbs.ScatterGatherList;

/**
 * The scatter/gather entries of the slots of a queue, in flat arrays. A slot is written before its request is published
 * and read afterwards, so the queue's tail orders the accesses.
 */
public final class EntryTable {
    private final int maxEntries;
    private final long[] addresses;
    private final long[] lengths;
    private final int[] lkeys;
    private final int[] counts;
    private final long[] totals;

    EntryTable(int slots, int maxEntries) {
        this.maxEntries = maxEntries;
        addresses = new long[slots * maxEntries];
        lengths = new long[slots * maxEntries];
        lkeys = new int[slots * maxEntries];
        counts = new int[slots];
        totals = new long[slots];
    }

    void set(int slot, ScatterGatherList list) {
        int at = slot * maxEntries;
        int count = list.size();
        long total = 0;
        for (int i = 0; i < count; i++) {
            addresses[at + i] = list.address(i);
            lengths[at + i] = list.length(i);
            lkeys[at + i] = list.lkey(i);
            total = total + lengths[at + i] < 0 ? Long.MAX_VALUE : total + lengths[at + i];
        }
        counts[slot] = count;
        totals[slot] = total;
    }

    /** Number of entries. */
    public int count(int slot) {
        return counts[slot];
    }

    /** Bytes of all entries. */
    public long total(int slot) {
        return totals[slot];
    }

    /** Address of an entry. */
    public long address(int slot, int entry) {
        return addresses[slot * maxEntries + entry];
    }

    /** Bytes of an entry. */
    public long length(int slot, int entry) {
        return lengths[slot * maxEntries + entry];
    }

    /** Key of an entry. */
    public int lkey(int slot, int entry) {
        return lkeys[slot * maxEntries + entry];
    }
}
