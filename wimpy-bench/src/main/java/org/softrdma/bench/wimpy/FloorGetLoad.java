package org.softrdma.bench.wimpy;

import org.HdrHistogram.Histogram;
import org.softrdma.bench.perf.Arrivals;
import org.softrdma.bench.perf.PerfException;
import org.softrdma.bench.perf.Yardstick;

/** READs of as many bytes as a value from the C responder, out of as many bytes as all the values: no keys, no items. */
final class FloorGetLoad implements GetLoad {
    private final Yardstick yardstick;
    private final Histogram latencies = Latencies.histogram();

    /**
     * A load.
     *
     * @param yardstick closed with this
     */
    FloorGetLoad(Yardstick yardstick) {
        this.yardstick = yardstick;
    }

    @Override
    public LoadOutcome run(KeySpace keys, int window, Arrivals arrivals) {
        latencies.reset();
        try {
            Yardstick.Done done = yardstick.run(keys.valueLength(), keys.totalBytes(), window, arrivals, latencies);
            return new LoadOutcome(done.reads(), 0, done.elapsedNs(), latencies);
        } catch (PerfException e) {
            throw new WimpyException("the C floor: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        yardstick.close();
    }
}
