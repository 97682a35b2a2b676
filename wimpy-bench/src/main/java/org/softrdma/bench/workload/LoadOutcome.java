package org.softrdma.bench.workload;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What one round of a load did.
 *
 * @param gets values that were got, and were right as far as they were looked at
 * @param errors GETs that brought nothing or something wrong
 * @param faults what they brought and how often, for people; empty if that is not known, or there were none
 * @param elapsedNs from the first request to the last answer
 * @param latencies nanoseconds from request to answer; reused by the next round
 */
public record LoadOutcome(long gets, long errors, String faults, long elapsedNs, Histogram latencies) {
    public double perSecond() {
        return (double) gets * TimeUnit.SECONDS.toNanos(1) / elapsedNs;
    }
}
