package org.softrdma.kv.server.session;

/**
 * Buffers that were handed to the network, in order, until they are sent. A buffer takes its capacity, however little is in
 * it. One thread.
 */
final class HandedBuffers {
    private static final int FIRST = 8;

    /** How many bytes had been handed over with each of them: a ring. */
    private long[] ends = new long[FIRST];

    private int[] capacities = new int[FIRST];
    private int first;
    private int count;

    private long bytes;
    private long capacity;

    /**
     * One more.
     *
     * @param length bytes in it
     * @param taken its capacity, 0 if it is no buffer
     */
    void add(long length, int taken) {
        bytes += length;
        if (taken == 0) {
            return;
        }
        if (count == ends.length) {
            grow();
        }
        int at = (first + count) & (ends.length - 1);
        ends[at] = bytes;
        capacities[at] = taken;
        count++;
        capacity += taken;
    }

    private void grow() {
        long[] moreEnds = new long[2 * count];
        int[] moreCapacities = new int[2 * count];
        for (int i = 0; i < count; i++) {
            int at = (first + i) & (count - 1);
            moreEnds[i] = ends[at];
            moreCapacities[i] = capacities[at];
        }
        ends = moreEnds;
        capacities = moreCapacities;
        first = 0;
    }

    /**
     * What those take of which something is left.
     *
     * @param left bytes that are not sent, or more
     */
    long capacityOf(long left) {
        while (count > 0 && ends[first] <= bytes - left) {
            capacity -= capacities[first];
            first = (first + 1) & (ends.length - 1);
            count--;
        }
        return capacity;
    }
}
