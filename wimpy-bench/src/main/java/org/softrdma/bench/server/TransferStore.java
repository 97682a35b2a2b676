package org.softrdma.bench.server;

import java.util.List;

/** Accounts in a store, whose servers are children of this process. The thread that started it. */
public interface TransferStore extends AutoCloseable {
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
    StoreRun run(int window, long ns);

    /** The sum of all accounts. */
    long sum();

    @Override
    void close();
}
