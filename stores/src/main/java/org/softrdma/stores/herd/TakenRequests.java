package org.softrdma.stores.herd;

import java.util.Arrays;
import org.softrdma.stores.herd.wire.HerdRequest;

/**
 * Requests that a worker has copied out of their slots and not executed yet, in the order in which it has found them. Owned
 * by the worker's thread.
 */
final class TakenRequests {
    /** Most of them: more are looked up no faster. */
    static final int MOST = 16;

    /** Bytes of all copies; where requests are long, there are fewer. */
    private static final int MOST_BYTES = 256 << 10;

    private final HerdRequest[] requests;
    private final HerdSeat[] seats;
    private int size;

    /**
     * None.
     *
     * @param longest bytes of the longest request
     */
    TakenRequests(int longest) {
        requests = new HerdRequest[Math.clamp(MOST_BYTES / longest, 1, MOST)];
        Arrays.setAll(requests, i -> new HerdRequest(longest));
        seats = new HerdSeat[requests.length];
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == requests.length;
    }

    /** Takes the copy of the next one; it counts once it is {@linkplain #add added}. Not if this is full. */
    HerdRequest next() {
        return requests[size];
    }

    /** The next one is whole, and of a client. */
    void add(HerdSeat seat) {
        seats[size++] = seat;
    }

    HerdRequest request(int index) {
        return requests[index];
    }

    /** Whose request it is. */
    HerdSeat seat(int index) {
        return seats[index];
    }

    /** All are executed; nothing of a client is kept that may leave. */
    void clear() {
        Arrays.fill(seats, 0, size, null);
        size = 0;
    }
}
