package org.softrdma.bench.wimpy;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What is measured, and how long.
 *
 * @param scenario the name in the results
 * @param valueLengths bytes of the values
 * @param windows GETs outstanding per connection
 * @param clients connections of the load
 * @param pairs pairs of each length
 * @param rounds rounds of each system and row, interleaved
 * @param millis length of a round
 * @param warmUpMillis warm-up of each system and row
 * @param serverCore core of the servers, negative for any
 * @param clientCore core of the load, negative for any
 */
public record WimpyPlan(
        String scenario,
        List<Integer> valueLengths,
        List<Integer> windows,
        int clients,
        int pairs,
        int rounds,
        int millis,
        int warmUpMillis,
        int serverCore,
        int clientCore) {
    private static final int MAX_VALUE_LENGTH = 900 * 1024;
    private static final int MAX_WINDOW = 512;

    /** Copies the lists and checks the numbers. */
    public WimpyPlan {
        valueLengths = List.copyOf(valueLengths);
        windows = List.copyOf(windows);
        boolean lengthsFit = !valueLengths.isEmpty()
                && valueLengths.stream().allMatch(length -> length >= 1 && length <= MAX_VALUE_LENGTH);
        if (!lengthsFit) {
            throw new IllegalArgumentException(
                    "value lengths=" + valueLengths + ": expected 1 to " + MAX_VALUE_LENGTH + " bytes");
        }
        if (windows.isEmpty() || windows.stream().anyMatch(window -> window < 1 || window > MAX_WINDOW)) {
            throw new IllegalArgumentException("windows=" + windows + ": expected 1 to " + MAX_WINDOW);
        }
        if (clients < 1 || pairs < 1 || rounds < 1 || millis < 1 || warmUpMillis < 0) {
            throw new IllegalArgumentException("clients=" + clients + ", pairs=" + pairs + ", rounds=" + rounds
                    + ", millis=" + millis + ", warm-up=" + warmUpMillis + ": out of range");
        }
    }

    int maxWindow() {
        return windows.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    int maxValueLength() {
        return valueLengths.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /** Bytes of all values together. */
    long totalBytes() {
        return valueLengths.stream().mapToLong(length -> (long) length * pairs).sum();
    }

    long roundNs() {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    long warmUpNs() {
        return TimeUnit.MILLISECONDS.toNanos(warmUpMillis);
    }
}
