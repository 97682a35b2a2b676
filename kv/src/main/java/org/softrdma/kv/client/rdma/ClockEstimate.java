package org.softrdma.kv.client.rdma;

import java.util.concurrent.TimeUnit;

/**
 * The latest that it can be on the server's clock: what the server said last, and the time since it was asked, by
 * this machine's clock that nobody sets. The server looked at its clock after it was asked, so no delay of the
 * answer, wherever it waited, makes this too early. No wall clock has a part in it. Owned by the thread of its
 * reader.
 */
final class ClockEstimate {
    /**
     * How long an answer of the server counts. Later the clocks may have drifted apart, or one may have stood still.
     */
    static final long MAX_AGE_NS = TimeUnit.MINUTES.toNanos(1);

    /** Later than any expiry: every item that expires is in doubt. */
    static final long UNKNOWN = Long.MAX_VALUE;

    /** Both clocks drop fractions of a second. */
    private static final long LEFT_OUT_SECONDS = 2;

    private boolean known;
    private long serverSeconds;
    private long askedNs;

    /**
     * The server has answered.
     *
     * @param seconds its clock
     * @param whenAskedNs when it was asked, of {@link System#nanoTime}
     */
    void heard(long seconds, long whenAskedNs) {
        known = true;
        serverSeconds = seconds;
        askedNs = whenAskedNs;
    }

    /**
     * The latest that it can be on the server's clock, in seconds since 1970; {@link #UNKNOWN} if the server has not
     * answered for long.
     */
    long latestSeconds(long nowNs) {
        long sinceNs = nowNs - askedNs;
        return known && sinceNs <= MAX_AGE_NS
                ? serverSeconds + TimeUnit.NANOSECONDS.toSeconds(sinceNs) + LEFT_OUT_SECONDS
                : UNKNOWN;
    }
}
