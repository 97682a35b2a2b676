package org.softrdma.verbs;

/**
 * The local memory of a work request: entries of address, length and lkey (C: {@code ibv_sge[]}). Grows on demand and
 * never shrinks. Posting copies it. Not thread-safe.
 */
public final class ScatterGatherList {
    private long[] addresses = new long[1];
    private long[] lengths = new long[1];
    private int[] lkeys = new int[1];
    private int size;

    ScatterGatherList() {}

    /** Number of entries. */
    public int size() {
        return size;
    }

    /**
     * Address of an entry.
     *
     * @param index 0 to {@link #size()} - 1
     */
    public long address(int index) {
        return addresses[index];
    }

    /**
     * Bytes of an entry.
     *
     * @param index 0 to {@link #size()} - 1
     */
    public long length(int index) {
        return lengths[index];
    }

    /**
     * Key of an entry.
     *
     * @param index 0 to {@link #size()} - 1
     */
    public int lkey(int index) {
        return lkeys[index];
    }

    /** Bytes of all entries, or {@link Long#MAX_VALUE} if there are more. */
    public long totalLength() {
        long total = 0;
        for (int i = 0; i < size; i++) {
            total += lengths[i];
            if (total < 0) {
                return Long.MAX_VALUE;
            }
        }
        return total;
    }

    void clear() {
        size = 0;
    }

    void add(long address, long length, int lkey) {
        if (length < 0) {
            throw new IllegalArgumentException("length=" + length + " < 0");
        }
        if (size == addresses.length) {
            grow();
        }
        addresses[size] = address;
        lengths[size] = length;
        lkeys[size] = lkey;
        size++;
    }

    private void grow() {
        addresses = java.util.Arrays.copyOf(addresses, size * 2);
        lengths = java.util.Arrays.copyOf(lengths, size * 2);
        lkeys = java.util.Arrays.copyOf(lkeys, size * 2);
    }
}
