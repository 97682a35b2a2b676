package org.softrdma.bench.workload;

import org.softrdma.bench.measurement.Arrivals;

/**
 * Gets random pairs over some connections from one thread, with a window of GETs outstanding on each. Checks the length of
 * every value, and every {@link #SAMPLE_INTERVAL}th byte by byte. Belongs to the thread that made it.
 */
public interface GetLoad extends AutoCloseable {
    /** One value in so many is compared byte by byte. */
    int SAMPLE_INTERVAL = 64;

    /**
     * Runs from rest to rest: asks as GETs arrive and the windows allow, waits for what is outstanding.
     *
     * @param keys what to get
     * @param window most GETs outstanding per connection
     * @param arrivals when GETs are to start
     */
    LoadOutcome run(MixPairs keys, int window, Arrivals arrivals);

    @Override
    void close();
}
