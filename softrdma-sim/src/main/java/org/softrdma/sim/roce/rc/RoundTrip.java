package org.softrdma.sim.roce.rc;

/**
 * How long a requester waits for an answer (RFC 6298): the smoothed round trip and four times its variation, at least {@link
 * #LEAST_NS}, twice as long after each time that has run out, never longer than the connection's timeout. Before the first
 * answer it is an eighth of that timeout. Engine thread only.
 */
final class RoundTrip {
    /** Below this, what holds a peer up for a moment would look like a loss. */
    static final long LEAST_NS = 1_000_000;

    /** Part of the longest timeout that is waited for before a round trip is known. */
    static final int FIRST_PART = 8;

    private static final int NONE = -1;
    /** Weight of what was known before is 1 - 1/8 of the round trip, 1 - 1/4 of its variation. */
    private static final int SMOOTHED_SHIFT = 3;

    private static final int VARIATION_SHIFT = 2;
    private static final int VARIATIONS = 4;

    private long mostNs;
    private long smoothedNs = NONE;
    private long variationNs;
    private long timeoutNs;

    /**
     * Nothing was measured yet.
     *
     * @param mostNs the longest timeout; 0 is for ever
     */
    RoundTrip(long mostNs) {
        limit(mostNs);
    }

    /** The longest timeout is another one from now on; 0 is for ever. */
    void limit(long newMostNs) {
        mostNs = newMostNs;
        timeoutNs = within(smoothedNs == NONE ? mostNs / FIRST_PART : longestNs());
    }

    /** The time after which the oldest packet is sent again; 0 for never. */
    long timeoutNs() {
        return timeoutNs;
    }

    /**
     * An answer has come to a packet that was sent once.
     *
     * @param ns from the packet to its answer
     */
    void measured(long ns) {
        if (smoothedNs == NONE) {
            smoothedNs = ns;
            variationNs = ns / 2;
        } else {
            variationNs += (Math.abs(smoothedNs - ns) - variationNs) >> VARIATION_SHIFT;
            smoothedNs += (ns - smoothedNs) >> SMOOTHED_SHIFT;
        }
        timeoutNs = within(longestNs());
    }

    /** An answer that has not come after so long will hardly come any more; {@link Long#MAX_VALUE} if no round trip is known. */
    long longestNs() {
        return smoothedNs == NONE ? Long.MAX_VALUE : smoothedNs + VARIATIONS * variationNs;
    }

    private long within(long ns) {
        return Math.min(mostNs, Math.max(LEAST_NS, ns));
    }

    /** The time has run out: the next one is twice as long, until a round trip is measured again. */
    void ranOut() {
        timeoutNs = Math.min(mostNs, 2 * timeoutNs);
    }
}
