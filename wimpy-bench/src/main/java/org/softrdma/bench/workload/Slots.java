package org.softrdma.bench.workload;

import java.util.Arrays;

/**
 * Places of operations that are outstanding, so many of each connection, numbered one connection after the other.
 * Owned by the thread that loads.
 */
final class Slots {
    private final int perConnection;
    private final int[] pairs;
    private final boolean[] gets;
    private final boolean[] thenPut;
    private final boolean[] drawn;
    private final boolean[] taken;
    private final long[] startedNs;
    /** Of each connection its free slots, the next one last. */
    private final int[] free;

    private final int[] freeCount;
    /** Of each connection its slots whose PUT is still to be started. */
    private final int[] putBack;

    private final int[] putBackCount;
    private int busy;

    Slots(int connections, int perConnection) {
        this.perConnection = perConnection;
        int count = connections * perConnection;
        pairs = new int[count];
        gets = new boolean[count];
        thenPut = new boolean[count];
        drawn = new boolean[count];
        taken = new boolean[count];
        startedNs = new long[count];
        free = new int[count];
        freeCount = new int[connections];
        putBack = new int[count];
        putBackCount = new int[connections];
        reset();
    }

    /** All are free. */
    void reset() {
        Arrays.fill(drawn, false);
        Arrays.fill(taken, false);
        Arrays.fill(putBackCount, 0);
        Arrays.fill(freeCount, perConnection);
        for (int i = 0; i < free.length; i++) {
            int connection = i / perConnection;
            free[i] = (connection + 1) * perConnection - 1 - i % perConnection;
        }
        busy = 0;
    }

    int busy() {
        return busy;
    }

    int busy(int connection) {
        return perConnection - freeCount[connection];
    }

    /** The next free slot of a connection that has one. */
    int free(int connection) {
        return free[connection * perConnection + freeCount[connection] - 1];
    }

    /** What the operation of a slot is to be. */
    void draw(int slot, int pair, boolean get, boolean putAfterwards) {
        pairs[slot] = pair;
        gets[slot] = get;
        thenPut[slot] = putAfterwards;
        drawn[slot] = true;
    }

    boolean isDrawn(int slot) {
        return drawn[slot];
    }

    int pair(int slot) {
        return pairs[slot];
    }

    boolean isGet(int slot) {
        return gets[slot];
    }

    boolean isThenPut(int slot) {
        return thenPut[slot];
    }

    long startedNs(int slot) {
        return startedNs[slot];
    }

    /** Its operation has begun. */
    void started(int slot, long nowNs) {
        startedNs[slot] = nowNs;
        drawn[slot] = false;
        if (!taken[slot]) {
            taken[slot] = true;
            freeCount[slot / perConnection]--;
            busy++;
        }
    }

    /** Its operation has ended. */
    void ended(int slot) {
        int connection = slot / perConnection;
        taken[slot] = false;
        free[connection * perConnection + freeCount[connection]] = slot;
        freeCount[connection]++;
        busy--;
    }

    /** Its GET has ended, and its PUT is to follow: it stays taken. */
    void putBack(int slot) {
        int connection = slot / perConnection;
        gets[slot] = false;
        thenPut[slot] = false;
        putBack[connection * perConnection + putBackCount[connection]++] = slot;
    }

    boolean hasPutBack(int connection) {
        return putBackCount[connection] > 0;
    }

    int nextPutBack(int connection) {
        return putBack[connection * perConnection + putBackCount[connection] - 1];
    }

    void dropPutBack(int connection) {
        putBackCount[connection]--;
    }
}
