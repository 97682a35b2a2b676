package org.softrdma.stores.herd;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreOptions;

/**
 * When a client WRITEs a request again that has no answer: after a pause, then after twice that, and so on. Immutable.
 *
 * @param pauseNs the first pause
 */
record HerdRetries(long pauseNs) {
    /** WRITEs of a request within one connection. */
    static final int MOST_ATTEMPTS = 8;

    private static final long USUAL_US = 10_000;
    private static final long MOST_US = TimeUnit.MINUTES.toMicros(1);

    static Map<String, String> known() {
        return Map.of(
                "retry-us", "microseconds after which a request without an answer is written again; default 10000");
    }

    static HerdRetries of(StoreClientContext context) {
        StoreOptions options = new StoreOptions(context.options(), known());
        return new HerdRetries(TimeUnit.MICROSECONDS.toNanos(options.number("retry-us", USUAL_US, 1, MOST_US)));
    }

    /** How long to wait for an answer to an attempt, from 1. */
    long pauseNs(int attempt) {
        return pauseNs << (Math.min(attempt, MOST_ATTEMPTS) - 1);
    }
}
