package org.softrdma.bench.machine;

import java.io.IOException;

/**
 * Slows down the servers of a study, by one of two means that are not the same: {@link FrequencyThrottle} slows the clock of
 * a core, {@link QuotaThrottle} lets a process run at full speed for a part of each period. {@link Throttles} tells which is
 * possible. Closing it lifts every limit, and may be done twice. Belongs to one thread.
 */
public interface Throttle extends AutoCloseable {
    /** No limit. */
    int FULL_PERCENT = 100;

    /** How it works and what that is not, one sentence for people. */
    String description();

    /** The name in tables and results. */
    String method();

    /**
     * Puts a process under the limit; its threads and those it will start.
     *
     * @param pid its number
     * @throws IOException if the kernel refuses
     */
    void adopt(long pid) throws IOException;

    /**
     * Sets the limit.
     *
     * @param percent of a core's speed, 1 to 100; 100 lifts it
     * @throws IOException if the kernel refuses
     */
    void limit(int percent) throws IOException;

    @Override
    void close();
}
