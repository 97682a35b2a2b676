package org.softrdma.bench.wimpy;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** How latencies are kept. */
final class Latencies {
    /** Longer ones count as this. */
    static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(60);

    private static final int DIGITS = 3;

    private Latencies() {}

    static Histogram histogram() {
        return new Histogram(HIGHEST_NS, DIGITS);
    }
}
