package org.softrdma.bench.perftest;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One line of a result table.
 *
 * @param sizeBytes message size
 * @param iterations operations measured
 * @param values the figures under the names of perftest's JSON, in the order of its columns
 * @param server what they cost the server
 */
public record PerfRow(long sizeBytes, long iterations, Map<String, Double> values, ServerCpu server) {
    /** Copies the map. */
    public PerfRow {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    public double value(String name) {
        return values.getOrDefault(name, Double.NaN);
    }
}
