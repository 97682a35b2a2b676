package org.softrdma.stores.herd;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The clients that workers serve. The server's thread lets them come and go; a worker takes the list at the beginning of a
 * turn, serves who is on it, touches nobody else, and nobody at all between two turns. So once no worker is in a turn with a
 * list that has a client, nobody touches the client's memory, and nothing of the client is executed that it asked before; and
 * no worker waits for another.
 */
final class HerdRoster {
    /**
     * Who is there.
     *
     * @param version counts changes
     * @param seats of the clients; nobody changes the array
     */
    @SuppressWarnings("ArrayRecordComponent") // read in every turn; nobody compares lists
    record Seats(long version, HerdSeat[] seats) {}

    /** Of a worker between two turns. */
    private static final long NO_TURN = Long.MAX_VALUE;

    /** Each worker's number has a cache line of its own. */
    private static final int STRIDE_SHIFT = 3;

    private volatile Seats now = new Seats(0, new HerdSeat[0]);
    /** By worker: the version of the list that it serves, or {@link #NO_TURN}. */
    private final AtomicLongArray taken;

    /** Nobody is there, and no worker is in a turn. */
    HerdRoster(int workers) {
        taken = new AtomicLongArray(workers << STRIDE_SHIFT);
        for (int at = 0; at < taken.length(); at++) {
            taken.set(at, NO_TURN);
        }
    }

    // ---- the server's thread

    /** Who is there now. */
    HerdSeat[] seats() {
        return now.seats;
    }

    /** A client comes. */
    void add(HerdSeat seat) {
        List<HerdSeat> seats = new ArrayList<>(List.of(seats()));
        seats.add(seat);
        publish(seats);
    }

    /**
     * A client goes.
     *
     * @return the version of the list without it
     */
    long remove(HerdSeat seat) {
        List<HerdSeat> seats = new ArrayList<>(List.of(seats()));
        boolean ignored = seats.remove(seat);
        return publish(seats);
    }

    private long publish(List<HerdSeat> seats) {
        long version = now.version + 1;
        now = new Seats(version, seats.toArray(HerdSeat[]::new));
        return version;
    }

    /** True if no worker serves a list before this version, nor will. */
    boolean areAllPast(long version) {
        for (int at = 0; at < taken.length(); at++) {
            if (taken.get(at) < version) {
                return false;
            }
        }
        return true;
    }

    // ---- a worker's thread

    /**
     * A turn begins: who is to be served in it. The worker has forgotten all others.
     *
     * <p>It says what it takes before it looks whether that is still the list. So either it sees a newer list, or the server, which
     * looks here once the newer list is there, sees that it serves this one.
     */
    HerdSeat[] take(int worker) {
        Seats list = now;
        while (true) {
            taken.set(worker << STRIDE_SHIFT, list.version);
            Seats latest = now;
            if (latest == list) {
                return list.seats;
            }
            list = latest;
        }
    }

    /** The turn is over: what was done in it is done, and the worker touches nobody before it takes a list again. */
    void leave(int worker) {
        taken.setRelease(worker << STRIDE_SHIFT, NO_TURN);
    }
}
