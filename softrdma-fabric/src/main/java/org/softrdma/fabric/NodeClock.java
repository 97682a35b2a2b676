package org.softrdma.fabric;

import org.agrona.concurrent.NanoClock;

/**
 * The clock of a node: it may run faster or slower than the run's, and stand still for a time, as that of a suspended
 * virtual machine does.
 */
final class NodeClock implements NanoClock {
    private static final long MILLION = 1_000_000;

    private final NanoClock time;
    private long sinceNs;
    private long readingNs;
    private long partsPerMillion;
    private long haltedUntilNs;

    /** A clock that is right. */
    NodeClock(NanoClock time) {
        this.time = time;
        sinceNs = time.nanoTime();
        readingNs = sinceNs;
        haltedUntilNs = sinceNs;
    }

    @Override
    public long nanoTime() {
        long passedNs = Math.max(0, time.nanoTime() - Math.max(sinceNs, haltedUntilNs));
        return readingNs
                + passedNs
                + passedNs / MILLION * partsPerMillion
                + passedNs % MILLION * partsPerMillion / MILLION;
    }

    /** From now on it gains so much, or loses it. */
    void drift(long newPartsPerMillion) {
        if (newPartsPerMillion <= -MILLION) {
            throw new IllegalArgumentException("partsPerMillion=" + newPartsPerMillion
                    + ": expected more than -1000000, or it would go backwards");
        }
        settle();
        partsPerMillion = newPartsPerMillion;
    }

    /** It stands still for a time. */
    void halt(long durationNs) {
        settle();
        haltedUntilNs = Math.max(haltedUntilNs, sinceNs + durationNs);
    }

    private void settle() {
        readingNs = nanoTime();
        sinceNs = time.nanoTime();
    }
}
