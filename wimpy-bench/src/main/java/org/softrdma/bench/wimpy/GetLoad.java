package org.softrdma.bench.wimpy;

/**
 * Gets random pairs flat out over some connections from one thread, with a window of GETs outstanding on each. Checks the
 * length of every value, and every {@link #SAMPLE_INTERVAL}th byte by byte. Belongs to the thread that made it.
 */
interface GetLoad extends AutoCloseable {
    /** One value in so many is compared byte by byte. */
    int SAMPLE_INTERVAL = 64;

    /**
     * Runs from rest to rest: fills the windows, keeps them full for the time, waits for what is outstanding.
     *
     * @param keys what to get
     * @param window GETs outstanding per connection
     * @param durationNs how long to go on asking
     */
    LoadOutcome run(KeySpace keys, int window, long durationNs);

    @Override
    void close();
}
