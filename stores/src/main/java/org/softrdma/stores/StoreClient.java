package org.softrdma.stores;

import java.lang.foreign.MemorySegment;

/**
 * A client of a store, with up to {@link #window()} outstanding operations. Start operations, then call {@link #poll}
 * or {@link #await}, which drive them and deliver each result once, in any order. {@link BlockingStore} does one at a
 * time.
 *
 * <p>A client that loses its connection reconnects on its own, within {@link #poll} or {@link #await}, and continues
 * the operations that it can repeat safely. The others end as {@link Outcome#LOST}. Every operation ends within its
 * time limit, plus the time that one attempt to connect may take ({@link StoreClientContext#timeoutNs}, {@link
 * StoreClientContext#connectTimeoutNs}).
 *
 * <p>Owned by one thread. Starting and polling allocate nothing while the connection lasts.
 */
public interface StoreClient extends AutoCloseable {
    /**
     * Starts a GET.
     *
     * @param key copied; 1 to {@link StoreClientContext#maxKeyLength} bytes
     * @param tag a number of yours, returned with the result
     * @return false if {@link #window()} operations are outstanding: then nothing was started
     * @throws IllegalArgumentException if the key is empty or too long
     */
    boolean startGet(byte[] key, long tag);

    /**
     * Starts a PUT, which stores a pair whether the key is there or not.
     *
     * @param key copied; 1 to {@link StoreClientContext#maxKeyLength} bytes
     * @param value copied; 0 to {@link StoreClientContext#maxValueLength} bytes
     * @param tag a number of yours, returned with the result
     * @return false if {@link #window()} operations are outstanding: then nothing was started
     * @throws IllegalArgumentException if the key is empty, or key or value is too long
     */
    boolean startPut(byte[] key, MemorySegment value, long tag);

    /**
     * Starts the removal of a pair.
     *
     * @param key copied; 1 to {@link StoreClientContext#maxKeyLength} bytes
     * @param tag a number of yours, returned with the result
     * @return false if {@link #window()} operations are outstanding: then nothing was started
     * @throws IllegalArgumentException if the key is empty or too long
     */
    boolean startRemove(byte[] key, long tag);

    /**
     * Drives the operations and delivers what has ended, without waiting, unless the connection is lost: then it tries
     * to connect.
     *
     * @param handler called for each result; it may start operations, but must not poll
     * @return the number of results
     */
    int poll(ResultHandler handler);

    /**
     * As {@link #poll}, again and again, until there is a result or nothing is outstanding, or the time is over.
     *
     * @param timeoutNs how long to wait
     * @param handler called for each result
     * @return the number of results; 0 at the end of the time, or if nothing is outstanding
     */
    int await(long timeoutNs, ResultHandler handler);

    /** Operations that were started and whose results were not delivered. */
    int outstanding();

    /** Most operations that may be outstanding. */
    int window();

    /** What it has done since it was made. Only its thread looks at them. */
    StoreCounters counters();

    /** Ends its connections. Results of outstanding operations are not delivered. Idempotent. */
    @Override
    void close();
}
