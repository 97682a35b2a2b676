package org.softrdma.bench.perftest;

/** What one end of a test does on its data queue pairs. Runs on the thread of its {@link PerfEndpoint}. */
interface Traffic {
    /** Does nothing: the device serves the peer. */
    Traffic NONE = new Traffic() {};

    /**
     * A message size begins.
     *
     * @param sizeBytes the size
     * @param iterations operations per queue pair; ignored if durationNs is not 0
     * @param durationNs how long to go on, 0 for the iterations
     */
    default void begin(long sizeBytes, long iterations, long durationNs) {}

    /** Posts what can be posted. */
    default void pump() {}

    /**
     * A work request has completed.
     *
     * @param kind one of the kinds of {@link PerfEndpoint}
     * @param queuePair index of its data queue pair
     * @param count what its wrId carried
     */
    default void completed(int kind, int queuePair, int count) {}

    /** True when there is nothing left to do of one's own accord. */
    default boolean isDone() {
        return true;
    }

    /** True if this end answers to messages, so that waiting for them asleep would be part of what is measured. */
    default boolean answers() {
        return false;
    }

    /** True if this end looks at memory too, so that it must not wait for completions. */
    default boolean polls() {
        return false;
    }

    /** Operations done of one's own accord. */
    default long operations() {
        return 0;
    }

    /** The time they took. */
    default long elapsedNs() {
        return 0;
    }
}
