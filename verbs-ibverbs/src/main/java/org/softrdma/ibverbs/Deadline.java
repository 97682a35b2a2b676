package org.softrdma.ibverbs;

import java.util.concurrent.TimeUnit;

/** A time that is given to several steps together. Immutable. */
public final class Deadline {
    private final long startNs = System.nanoTime();
    private final long timeoutNs;

    private Deadline(long timeoutNs) {
        this.timeoutNs = timeoutNs;
    }

    /**
     * Begins now.
     *
     * @param timeoutNs negative counts as 0, {@link Long#MAX_VALUE} is for ever
     */
    public static Deadline in(long timeoutNs) {
        return new Deadline(Math.max(0, timeoutNs));
    }

    /** What is left, at least 0. */
    public long remainingNs() {
        return Math.max(0, timeoutNs - (System.nanoTime() - startNs));
    }

    /** What is left, rounded up to C's milliseconds, at least 1. */
    public int remainingMs() {
        return (int) Math.clamp(TimeUnit.NANOSECONDS.toMillis(remainingNs()) + 1, 1L, Integer.MAX_VALUE);
    }

    /** What was given, for messages. */
    public long totalMs() {
        return TimeUnit.NANOSECONDS.toMillis(timeoutNs);
    }
}
