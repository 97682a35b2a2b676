package org.softrdma.bench.server;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What a run of operations of a store did.
 *
 * @param wallNs how long it took
 * @param latencies of its operations
 */
public record StoreRun(long wallNs, Histogram latencies) {
    public double perSecond() {
        return (double) latencies.getTotalCount() * TimeUnit.SECONDS.toNanos(1) / wallNs;
    }
}
