package org.softrdma.farm.membership;

/**
 * Until when a machine may trust what it READs, by its own clock. It counts from the moment at which a renewal was sent,
 * because the configuration may have changed at any time after that. The node's thread.
 */
final class Lease {
    private final long durationNs;
    private boolean granted;
    private long untilNs;

    /** None yet. */
    Lease(long durationNs) {
        this.durationNs = durationNs;
    }

    /** A renewal was granted that was sent at a time. */
    void renewed(long sentNs) {
        long newUntilNs = sentNs + durationNs;
        if (!granted || newUntilNs - untilNs > 0) {
            untilNs = newUntilNs;
            granted = true;
        }
    }

    /** It is over. */
    void end() {
        granted = false;
    }

    /** True before its end. */
    boolean holds(long nowNs) {
        return granted && nowNs - untilNs < 0;
    }
}
