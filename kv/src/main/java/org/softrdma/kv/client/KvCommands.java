package org.softrdma.kv.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * memcached's commands as methods that wait for their results. The rules for keys, values and times are those of {@link
 * KvRequest}; to set another time limit, or to request no answer, {@link #execute} a request.
 *
 * <p>All throw {@link IllegalArgumentException} for a bad argument; {@link KvTimeoutException} if there is no answer
 * in time; {@link KvRefusedException} if the server does not know the command or cannot do it with this value;
 * {@link KvException} if the server is gone or cannot be reached.
 */
public interface KvCommands extends AutoCloseable {
    /**
     * Executes a request.
     *
     * @param request used once
     * @return its result
     * @throws IllegalStateException if the request was used before, or the client is closed
     */
    <T> T execute(KvRequest<T> request);

    /**
     * Gets a value.
     *
     * @return empty if there is none
     */
    default Optional<KvItem> get(byte[] key) {
        return execute(KvRequest.get(key));
    }

    /**
     * Gets many values at once; those whose locations are known, by READs with one doorbell.
     *
     * @param keys the keys; one may occur more than once
     * @return one entry per key, in the order of the keys
     */
    default List<Optional<KvItem>> getAll(List<byte[]> keys) {
        return execute(KvRequest.getAll(keys));
    }

    /**
     * Stores a value.
     *
     * @param flags kept with the value, 32 bits
     * @param exptime as in memcached, in seconds: 0 for never; up to 30 days counted from now; more counted from 1970;
     *     negative for at once
     */
    default SetStatus set(byte[] key, int flags, int exptime, byte[] value) {
        return execute(KvRequest.set(key, flags, exptime, value));
    }

    /**
     * Stores a value if the key has none.
     *
     * @param flags as for {@link #set}
     * @param exptime as for {@link #set}
     */
    default SetStatus add(byte[] key, int flags, int exptime, byte[] value) {
        return execute(KvRequest.add(key, flags, exptime, value));
    }

    /**
     * Stores a value if the key has one.
     *
     * @param flags as for {@link #set}
     * @param exptime as for {@link #set}
     */
    default SetStatus replace(byte[] key, int flags, int exptime, byte[] value) {
        return execute(KvRequest.replace(key, flags, exptime, value));
    }

    /**
     * Appends bytes to a value; its flags and expiry stay.
     *
     * @param value the bytes
     */
    default SetStatus append(byte[] key, byte[] value) {
        return execute(KvRequest.append(key, value));
    }

    /**
     * Prepends bytes to a value; its flags and expiry stay.
     *
     * @param value the bytes
     */
    default SetStatus prepend(byte[] key, byte[] value) {
        return execute(KvRequest.prepend(key, value));
    }

    /**
     * Stores a value unless the current one has changed since it was read.
     *
     * @param flags as for {@link #set}
     * @param exptime as for {@link #set}
     * @param cas {@link KvItem#cas()} of the value that was read
     */
    default SetStatus cas(byte[] key, int flags, int exptime, byte[] value, long cas) {
        return execute(KvRequest.cas(key, flags, exptime, value, cas));
    }

    /**
     * Removes a value.
     *
     * @return true if there was one
     */
    default boolean delete(byte[] key) {
        return execute(KvRequest.delete(key));
    }

    /**
     * Adds to a value that is a decimal number, modulo 2^64.
     *
     * @param delta how much, unsigned
     * @return the new value, unsigned; empty if there is none
     */
    default OptionalLong incr(byte[] key, long delta) {
        return execute(KvRequest.incr(key, delta));
    }

    /**
     * Subtracts from a value that is a decimal number, and stops at 0.
     *
     * @param delta how much, unsigned
     * @return the new value, unsigned; empty if there is none
     */
    default OptionalLong decr(byte[] key, long delta) {
        return execute(KvRequest.decr(key, delta));
    }

    /**
     * Changes the expiry of a value.
     *
     * @param exptime as for {@link #set}
     * @return true if there is one
     */
    default boolean touch(byte[] key, int exptime) {
        return execute(KvRequest.touch(key, exptime));
    }

    /**
     * Gets a value and changes its expiry.
     *
     * @param exptime as for {@link #set}
     * @return empty if there is none
     */
    default Optional<KvItem> getAndTouch(byte[] key, int exptime) {
        return execute(KvRequest.getAndTouch(key, exptime));
    }

    /**
     * Deletes all values, now or after a delay.
     *
     * @param delay at least 0; whole seconds count
     */
    default void flushAll(Duration delay) {
        execute(KvRequest.flushAll(Math.toIntExact(delay.toSeconds())));
    }

    /**
     * The server's statistics.
     *
     * @param what "" for the general statistics, or another group that the server knows: settings, items, slabs, rdma,
     *     ...
     * @return names and values in the server's order
     */
    default Map<String, String> stats(String what) {
        return execute(KvRequest.stats(what));
    }

    /** The server's version. */
    default String version() {
        return execute(KvRequest.version());
    }

    /** Which of RDMA and PLAIN the connection to the server uses now, or used last. */
    KvProtocol protocol();

    /** Ends the connection. Idempotent. */
    @Override
    void close();
}
