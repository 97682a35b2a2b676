package org.softrdma.bench.perftest;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The times of a latency test and the figures perftest prints of them. */
final class LatencySamples {
    private static final double NS_PER_US = 1e3;

    private final long[] unsortedNs;
    private final double factor;

    /**
     * Takes the times over.
     *
     * @param roundTripsNs each round trip
     * @param pingPong true if half of a round trip is what is reported
     */
    LatencySamples(long[] roundTripsNs, boolean pingPong) {
        unsortedNs = roundTripsNs;
        factor = (pingPong ? 0.5 : 1) / NS_PER_US;
    }

    /** Microseconds in the order measured. */
    double[] unsortedMicros() {
        return Arrays.stream(unsortedNs).mapToDouble(ns -> ns * factor).toArray();
    }

    /** Microseconds, shortest first. */
    double[] sortedMicros() {
        return Arrays.stream(unsortedNs).sorted().mapToDouble(ns -> ns * factor).toArray();
    }

    /** perftest's figures by the names of its JSON. */
    Map<String, Double> figures() {
        double[] sorted = sortedMicros();
        double sum = Arrays.stream(sorted).sum();
        double average = sum / sorted.length;
        double variance = Arrays.stream(sorted)
                        .map(value -> (value - average) * (value - average))
                        .sum()
                / sorted.length;
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("t_min", sorted[0]);
        figures.put("t_max", sorted[sorted.length - 1]);
        figures.put("t_typical", median(sorted));
        figures.put("t_avg", average);
        figures.put("t_stdev", Math.sqrt(variance));
        figures.put("percent_99", percentile(sorted, 0.99));
        figures.put("percent_99.9", percentile(sorted, 0.999));
        return figures;
    }

    private static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static double percentile(double[] sorted, double part) {
        return sorted[Math.min(sorted.length - 1, (int) Math.ceil(sorted.length * part) - 1)];
    }
}
