package org.softrdma.kv.server.rdma;

import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.softrdma.kv.store.ItemStore;

/**
 * What all queue pairs of a server share. Any thread.
 *
 * @param store the items
 * @param settings of queue pairs
 * @param clockSeconds the clock by which items expire, seconds since 1970
 * @param nanoClock the clock of limits
 * @param counters what queue pairs do
 */
public record RdmaService(
        ItemStore store, RdmaSettings settings, LongSupplier clockSeconds, NanoClock nanoClock, RdmaCounters counters) {
    /** The time by which items expire. */
    long nowSeconds() {
        return clockSeconds.getAsLong();
    }

    /** The time by which limits are over. */
    long nowNs() {
        return nanoClock.nanoTime();
    }
}
