package org.softrdma.bench.workload;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreCounters;

/**
 * Some connections of one thread to one store of any kind: what {@link MixLoad} needs of it. Owned by that thread; in
 * manual progress of a device the one that opened it.
 */
public interface StoreConnections extends AutoCloseable {
    /** How many there are. */
    int count();

    /**
     * Starts a GET.
     *
     * @param connection number of the connection, from 0
     * @param key must not change until the result was delivered
     * @param tag delivered with the result
     * @return false if the connection takes none now; then nothing was started
     */
    boolean startGet(int connection, byte[] key, long tag);

    /**
     * Starts a PUT.
     *
     * @param connection number of the connection, from 0
     * @param key must not change until the result was delivered
     * @param value copied
     * @param tag delivered with the result
     * @return false if the connection takes none now; then nothing was started
     */
    boolean startPut(int connection, byte[] key, MemorySegment value, long tag);

    /**
     * Drives all connections and delivers what has ended, without waiting.
     *
     * @param handler called for each result; must not call anything here
     * @return the number of results
     */
    int poll(ResultHandler handler);

    /** What the connections have counted so far, all together, as far as they count. */
    StoreCounters counters();

    /** Reasons for asking once more that {@link StoreCounters} has no name for, counted so far. */
    default Map<String, Long> otherRetries() {
        return Map.of();
    }

    /** Counts of this side's device so far, by their names; empty if there is none, or if it counts nothing. */
    default Map<String, Long> deviceCounters() {
        return Map.of();
    }

    @Override
    void close();
}
