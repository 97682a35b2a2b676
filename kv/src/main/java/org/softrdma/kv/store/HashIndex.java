package org.softrdma.kv.store;

/**
 * Finds chunks by the hash of their key: open addressing with linear probing in one array of pairs {hash, chunk},
 * doubled when it is three quarters full, and without tombstones (removing moves later entries of the run back).
 * Comparing keys is the caller's: a hash may stand there more than once. Not thread-safe; each stripe of the store
 * has its own.
 */
final class HashIndex {
    /** No such slot. */
    static final int NONE = -1;

    private static final int INITIAL_SLOTS = 64;

    private long[] entries = new long[2 * INITIAL_SLOTS];
    private int mask = INITIAL_SLOTS - 1;
    private int size;

    /** Number of entries. */
    int size() {
        return size;
    }

    /** Number of slots, used or not. */
    int slots() {
        return mask + 1;
    }

    /** Bytes of the table. */
    long bytes() {
        return (long) entries.length * Long.BYTES;
    }

    /** The first slot with this hash, or {@link #NONE}. */
    int find(long hash) {
        return findFrom((int) hash & mask, hash);
    }

    /** The next slot with this hash, or {@link #NONE}. */
    int findNext(int slot, long hash) {
        return findFrom((slot + 1) & mask, hash);
    }

    /** The slot with this hash and chunk, or {@link #NONE}. */
    int find(long hash, long chunk) {
        int slot = find(hash);
        while (slot != NONE && chunk(slot) != chunk) {
            slot = findNext(slot, hash);
        }
        return slot;
    }

    /** The chunk in a slot, 0 if it is empty. */
    long chunk(int slot) {
        return entries[2 * slot + 1];
    }

    /** Puts another chunk in a slot. */
    void replace(int slot, long chunk) {
        entries[2 * slot + 1] = chunk;
    }

    /** Adds an entry; hash and chunk are not 0. */
    void insert(long hash, long chunk) {
        if (4L * (size + 1) > 3L * (mask + 1)) {
            grow();
        }
        put(hash, chunk);
        size++;
    }

    /** Removes the entry in a slot; slots found before are no longer valid. */
    void remove(int slot) {
        int hole = slot;
        int at = slot;
        while (true) {
            at = (at + 1) & mask;
            long hash = entries[2 * at];
            if (hash == 0) {
                break;
            }
            int home = (int) hash & mask;
            // The entry may fill the hole unless its home lies after the hole (all distances modulo the table).
            if (((at - home) & mask) >= ((at - hole) & mask)) {
                entries[2 * hole] = hash;
                entries[2 * hole + 1] = entries[2 * at + 1];
                hole = at;
            }
        }
        entries[2 * hole] = 0;
        entries[2 * hole + 1] = 0;
        size--;
    }

    private int findFrom(int start, long hash) {
        int slot = start;
        while (true) {
            long there = entries[2 * slot];
            if (there == hash) {
                return slot;
            }
            if (there == 0) {
                return NONE;
            }
            slot = (slot + 1) & mask;
        }
    }

    private void put(long hash, long chunk) {
        int slot = (int) hash & mask;
        while (entries[2 * slot] != 0) {
            slot = (slot + 1) & mask;
        }
        entries[2 * slot] = hash;
        entries[2 * slot + 1] = chunk;
    }

    private void grow() {
        long[] old = entries;
        entries = new long[2 * old.length];
        mask = 2 * mask + 1;
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != 0) {
                put(old[i], old[i + 1]);
            }
        }
    }
}
