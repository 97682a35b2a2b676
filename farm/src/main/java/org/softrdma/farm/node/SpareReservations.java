package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;

/**
 * What this machine has reserved for transactions that were aborted. The next transaction that allocates as much near the same
 * region gets it; otherwise it would be lost until the next epoch. Any thread.
 */
final class SpareReservations {
    private static final int MOST = 1024;

    private final List<Reservation> spare = new ArrayList<>();

    /**
     * Room for an object.
     *
     * @param length of header and payload
     * @param near the region that was asked for, or {@link #near} of none
     * @param address of it
     * @param epoch in which it is reserved: in later ones it is not
     * @param version that its place has
     * @param incarnation that its place has
     */
    record Reservation(int length, long near, long address, int epoch, long version, long incarnation) {}

    /** The region of a hint; of none where there is no hint. */
    static long near(long hint) {
        return FarmAddress.of(FarmAddress.region(hint), 0);
    }

    /** Keeps what nobody has allocated. */
    void add(List<Reservation> unused) {
        synchronized (spare) {
            for (Reservation reservation : unused) {
                spare.removeIf(other -> other.epoch() < reservation.epoch());
                if (spare.size() < MOST) {
                    spare.add(reservation);
                }
            }
        }
    }

    /**
     * Gives away what was kept.
     *
     * @param length of header and payload
     * @param hint address of an object that it is to be near, or {@link FarmAddress#NONE}
     * @param epoch in which it must be reserved
     * @return null if there is none
     */
    @Nullable
    Reservation take(int length, long hint, int epoch) {
        synchronized (spare) {
            for (int i = spare.size() - 1; i >= 0; i--) {
                Reservation reservation = spare.get(i);
                if (reservation.length() == length
                        && reservation.near() == near(hint)
                        && reservation.epoch() == epoch) {
                    return spare.remove(i);
                }
            }
            return null;
        }
    }
}
