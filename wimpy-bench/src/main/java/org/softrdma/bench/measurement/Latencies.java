package org.softrdma.bench.measurement;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** How latencies are kept. */
public final class Latencies {
    /** Longer ones count as this. */
    public static final long HIGHEST_NS = TimeUnit.SECONDS.toNanos(60);

    private static final int DIGITS = 3;

    private Latencies() {}

    public static Histogram histogram() {
        return new Histogram(HIGHEST_NS, DIGITS);
    }
}
