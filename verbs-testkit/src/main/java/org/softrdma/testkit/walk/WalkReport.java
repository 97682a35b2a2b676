package org.softrdma.testkit.walk;

import java.util.Map;
import java.util.TreeMap;

/**
 * What a walk did. Immutable.
 *
 * @param settings of the walk
 * @param operations how many it did
 * @param counts how often it did and saw what
 */
public record WalkReport(WalkSettings settings, int operations, Map<String, Integer> counts) {
    /** Copies. */
    public WalkReport {
        counts = Map.copyOf(counts);
    }

    /** Counts of many walks together. */
    public static Map<String, Integer> sum(Iterable<WalkReport> reports) {
        Map<String, Integer> all = new TreeMap<>();
        reports.forEach(report -> report.counts.forEach((name, count) -> all.merge(name, count, Integer::sum)));
        return all;
    }
}
