package org.softrdma.testkit.walk;

/**
 * How many limit events of a shared receive queue may still come, and how many must. How many RECVs are left is known
 * only within bounds: a message that was sent may have taken one or not. The walk's thread.
 */
final class LimitEvents {
    private int limit;
    /** The limit that is set now is counted in {@link #most}. */
    private boolean possible;

    private int most;
    private int least;

    /** A limit is set, or with 0 taken back; what was set before counts no more, unless it was reached. */
    void arm(int newLimit) {
        limit = newLimit;
        possible = false;
    }

    /** So many RECVs are left, at least and at most. */
    void see(int fewestLeft, int mostLeft) {
        if (fewestLeft < limit && !possible) {
            possible = true;
            most++;
        }
        if (mostLeft < limit) {
            least++;
            arm(0);
        }
    }

    /**
     * An event was taken.
     *
     * @return false if none can be
     */
    boolean take() {
        if (most == 0) {
            return false;
        }
        most--;
        if (least > 0) {
            least--;
        } else {
            arm(0); // It was this limit's; or an earlier one's, and then nobody knows of this one.
        }
        return true;
    }

    /** True if an event is still to come. */
    boolean isDue() {
        return least > 0;
    }
}
