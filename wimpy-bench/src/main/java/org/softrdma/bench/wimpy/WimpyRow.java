package org.softrdma.bench.wimpy;

import org.softrdma.bench.cpu.MedianOfRounds;

/**
 * What was measured of one system with one value length and window: named values of each round. Filled by the study.
 */
final class WimpyRow {
    static final String GETS_PER_SECOND = "getsPerSecond";
    static final String SERVER_CPU = "serverCpuMicrosPerGet";
    static final String SERVER_CORE = "serverCoreMicrosPerGet";
    static final String CLIENT_CPU = "clientCpuMicrosPerGet";
    static final String P50 = "p50Micros";
    static final String P99 = "p99Micros";
    static final String P999 = "p999Micros";
    static final String ONE_SIDED = "oneSidedFraction";

    final MeasuredSystem system;
    final int valueLength;
    final int window;
    final MedianOfRounds rounds = new MedianOfRounds();
    final MedianOfRounds serverCpuByClass = new MedianOfRounds();
    long errors;

    WimpyRow(MeasuredSystem system, int valueLength, int window) {
        this.system = system;
        this.valueLength = valueLength;
        this.window = window;
    }

    /** The median over the rounds; NaN if it was not measured. */
    double median(String name) {
        return rounds.median(name);
    }
}
