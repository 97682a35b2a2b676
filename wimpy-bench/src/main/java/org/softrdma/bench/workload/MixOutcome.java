package org.softrdma.bench.workload;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What one run of a load did.
 *
 * @param gets GETs that brought a right value
 * @param puts PUTs that were stored
 * @param errors what went wrong, and how often; empty if nothing did
 * @param elapsedNs from the first operation to the last result
 * @param getLatencies nanoseconds of GETs; reused by the next run
 * @param putLatencies nanoseconds of PUTs; reused by the next run
 */
public record MixOutcome(
        long gets, long puts, Map<Fault, Long> errors, long elapsedNs, Histogram getLatencies, Histogram putLatencies) {
    /** What can go wrong with an operation. */
    public enum Fault {
        /** A GET brought something that is no value of its key. */
        WRONG_VALUE,
        /**
         * A GET did not find a pair that was stored; of a store that may lose pairs this is no error, but counted.
         */
        MISSING,
        /** A PUT was refused for want of memory. */
        FULL,
        /** Too many conflicts. */
        GAVE_UP,
        /** No answer in time. */
        LOST
    }

    /** Copies the map. */
    public MixOutcome {
        EnumMap<Fault, Long> copy = new EnumMap<>(Fault.class);
        copy.putAll(errors);
        errors = copy;
    }

    /** Operations that did what they were asked for. */
    public long operations() {
        return gets + puts;
    }

    /** Of them, per second. */
    public double perSecond() {
        return (double) operations() * TimeUnit.SECONDS.toNanos(1) / elapsedNs;
    }

    /**
     * Operations that went wrong.
     *
     * @param lossy true if the store may lose pairs
     */
    public long failed(boolean lossy) {
        return errors.entrySet().stream()
                .filter(entry -> !(lossy && entry.getKey() == Fault.MISSING))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }
}
