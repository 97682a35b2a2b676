package org.softrdma.bench.server;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Accounts in a store, whose servers are children of this process. The thread that started it. */
public interface TransferStore extends AutoCloseable {
    /**
     * What a run did.
     *
     * @param wallNs how long it took
     * @param latencies of its transfers
     */
    record Run(long wallNs, Histogram latencies) {
        public double perSecond() {
            return (double) latencies.getTotalCount() * TimeUnit.SECONDS.toNanos(1) / wallNs;
        }
    }

    /** Its name and version. */
    String name();

    /** What it promises whoever was told that a transfer is done. */
    String promise();

    /** Process numbers of its servers. */
    List<Long> processes();

    /**
     * Makes transfers.
     *
     * @param window how many are under way
     * @param ns how long
     * @throws org.softrdma.bench.measurement.MeasurementException if one fails
     */
    Run run(int window, long ns);

    /** The sum of all accounts. */
    long sum();

    @Override
    void close();
}
