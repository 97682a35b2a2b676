package org.softrdma.sim.roce.rc;

import org.softrdma.sim.roce.wire.Psn;

/**
 * The last READs and atomics that a responder has taken, so that it can answer one again whose answer was lost (IBA
 * volume 1, 9.7.5.1.2): of a READ where its bytes are, of an atomic what the word was. As many as the connection allows
 * in flight. Engine thread only.
 */
final class ReplayRing {
    /** Nothing that is remembered fits. */
    static final int NONE = -1;

    private final int capacity;
    private final int[] firstPsns;
    private final int[] packets;
    private final boolean[] atomics;
    private final int[] rkeys;
    private final long[] addresses;
    /** Bytes of a READ, or what an atomic's word was. */
    private final long[] values;

    private int next;
    private int size;

    ReplayRing(int capacity) {
        this.capacity = capacity;
        firstPsns = new int[capacity];
        packets = new int[capacity];
        atomics = new boolean[capacity];
        rkeys = new int[capacity];
        addresses = new long[capacity];
        values = new long[capacity];
    }

    /** The last ones of another ring. */
    ReplayRing(int capacity, ReplayRing before) {
        this(capacity);
        for (int i = Math.max(0, before.size - capacity); i < before.size; i++) {
            int from = before.size < before.capacity ? i : (before.next + i) % before.capacity;
            int slot = add(before.firstPsns[from], before.packets[from], before.atomics[from]);
            rkeys[slot] = before.rkeys[from];
            addresses[slot] = before.addresses[from];
            values[slot] = before.values[from];
        }
    }

    void addRead(int psn, int count, int rkey, long address, long length) {
        int slot = add(psn, count, false);
        rkeys[slot] = rkey;
        addresses[slot] = address;
        values[slot] = length;
    }

    void addAtomic(int psn, long original) {
        values[add(psn, 1, true)] = original;
    }

    private int add(int psn, int count, boolean atomic) {
        int slot = next;
        firstPsns[slot] = psn;
        packets[slot] = count;
        atomics[slot] = atomic;
        next = slot + 1 == capacity ? 0 : slot + 1;
        size = Math.min(size + 1, capacity);
        return slot;
    }

    /** The atomic of a PSN, or {@link #NONE}. */
    int findAtomic(int psn) {
        int slot = find(psn);
        return slot != NONE && atomics[slot] ? slot : NONE;
    }

    /**
     * The READ that a request repeats, whole or from one of its packets on, or {@link #NONE}.
     *
     * @param psn of the request
     * @param rkey that it names
     * @param address of the first byte that it asks for
     * @param length of what it asks for
     * @param transferUnit of the connection
     */
    int findRead(int psn, int rkey, long address, long length, int transferUnit) {
        int slot = find(psn);
        if (slot == NONE || atomics[slot] || rkeys[slot] != rkey) {
            return NONE;
        }
        long skipped = (long) Psn.distance(firstPsns[slot], psn) * transferUnit;
        boolean within = address == addresses[slot] + skipped && length <= values[slot] - skipped;
        return within ? slot : NONE;
    }

    private int find(int psn) {
        for (int slot = 0; slot < size; slot++) {
            int index = Psn.distance(firstPsns[slot], psn);
            if (index >= 0 && index < packets[slot]) {
                return slot;
            }
        }
        return NONE;
    }

    /** What the word of an atomic was. */
    long original(int slot) {
        return values[slot];
    }
}
