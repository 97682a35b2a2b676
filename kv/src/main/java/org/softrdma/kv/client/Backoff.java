package org.softrdma.kv.client;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * When to connect again: at once after a connection that worked, then in steps that double up to a quarter of a
 * second, each shortened at random by up to half so that many clients of one server do not come at a time. Owned by
 * one thread.
 */
final class Backoff {
    private static final long FIRST_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final RandomGenerator random;
    private long stepNs;
    private long nextNs;

    Backoff(RandomGenerator random) {
        this.random = random;
    }

    /** A connection worked. */
    void reset() {
        stepNs = 0;
    }

    /** A connection was lost, or could not be made. */
    void failed(long nowNs) {
        nextNs = nowNs + (stepNs == 0 ? 0 : random.nextLong(stepNs / 2, stepNs));
        stepNs = Math.min(LONGEST_NS, Math.max(FIRST_NS, 2 * stepNs));
    }

    /** How long until the next attempt; 0 if it is due. */
    long leftNs(long nowNs) {
        return Math.max(0, nextNs - nowNs);
    }
}
