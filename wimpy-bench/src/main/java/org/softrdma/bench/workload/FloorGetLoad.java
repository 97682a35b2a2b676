package org.softrdma.bench.workload;

import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.Yardstick;

/** READs of as many bytes as a value from the C responder, out of as many bytes as all the values: no keys, no items. */
public final class FloorGetLoad implements GetLoad {
    private final Yardstick yardstick;
    private final Histogram latencies = Latencies.histogram();

    /**
     * A load.
     *
     * @param yardstick closed with this
     */
    public FloorGetLoad(Yardstick yardstick) {
        this.yardstick = yardstick;
    }

    @Override
    public LoadOutcome run(MixPairs keys, int window, Arrivals arrivals) {
        latencies.reset();
        try {
            Yardstick.Done done = yardstick.run(keys.valueLength(), keys.totalBytes(), window, arrivals, latencies);
            return new LoadOutcome(done.reads(), 0, "", done.elapsedNs(), latencies);
        } catch (MeasurementException e) {
            throw new MeasurementException("the C floor: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        yardstick.close();
    }
}
