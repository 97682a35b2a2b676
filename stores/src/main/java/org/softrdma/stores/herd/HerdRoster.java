package org.softrdma.stores.herd;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The clients that workers serve. The server's thread lets them come and go; a worker takes the list at the beginning of a
 * turn, serves who is on it, and touches nobody else. So once all workers have taken a list without a client, nobody
 * touches the client's memory, and nothing of the client is executed that it asked before; and no worker waits for another.
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

    private final AtomicReference<Seats> now = new AtomicReference<>(new Seats(0, new HerdSeat[0]));
    private final AtomicLongArray taken;

    /** Nobody is there. */
    HerdRoster(int workers) {
        taken = new AtomicLongArray(workers);
    }

    // ---- the server's thread

    /** Who is there now. */
    HerdSeat[] seats() {
        return now.getPlain().seats;
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
        long version = now.getPlain().version + 1;
        now.setRelease(new Seats(version, seats.toArray(HerdSeat[]::new))); // acquired in take()
        return version;
    }

    /** True if no worker serves an older list. */
    boolean isTakenByAll(long version) {
        for (int worker = 0; worker < taken.length(); worker++) {
            if (taken.getAcquire(worker) < version) {
                return false;
            }
        }
        return true;
    }

    // ---- a worker's thread

    /** A turn begins: who is to be served in it. The worker has forgotten all others. */
    HerdSeat[] take(int worker) {
        Seats list = now.getAcquire();
        if (taken.getPlain(worker) != list.version) {
            taken.setRelease(worker, list.version); // acquired in isTakenByAll(): what it did before is done
        }
        return list.seats;
    }
}
