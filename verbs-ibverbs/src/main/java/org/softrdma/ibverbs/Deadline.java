package org.softrdma.ibverbs;

import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.provider.TimeLimit;

/** The time limit of several steps together. Immutable. */
public final class Deadline {
    private final long startNs = System.nanoTime();
    private final long timeoutNs;

    private Deadline(long timeoutNs) {
        this.timeoutNs = timeoutNs;
    }

    /**
     * Begins now.
     *
     * @param timeoutNs time from now; negative counts as 0, {@link Long#MAX_VALUE} is for ever
     */
    public static Deadline in(long timeoutNs) {
        return new Deadline(Math.max(0, timeoutNs));
    }

    /** The remaining time, at least 0. */
    public long remainingNs() {
        return Math.max(0, timeoutNs - (System.nanoTime() - startNs));
    }

    /** The remaining time in C's milliseconds, rounded up, at least 1. */
    public int remainingMs() {
        return (int) Math.clamp(TimeUnit.NANOSECONDS.toMillis(remainingNs()) + 1, 1L, Integer.MAX_VALUE);
    }

    /** The whole time, for people. */
    @Override
    public String toString() {
        return TimeLimit.text(timeoutNs);
    }
}
