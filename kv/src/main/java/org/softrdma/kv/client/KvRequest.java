package org.softrdma.kv.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;

/**
 * A request to a server and, later, its result, to be used once with {@link KvCommands#execute} or {@link
 * SharedKvClient#submit}. Do not change the arrays passed to it before it is done. Any thread may create and submit it;
 * then the client's thread owns it.
 *
 * <p>Keys are 1 to 250 bytes without blanks and control characters; other keys cause an {@link
 * IllegalArgumentException}.
 *
 * @param <T> the result
 */
public abstract sealed class KvRequest<T> extends Pending
        permits GetRequest, GetAllRequest, LineRequest, NoreplyRequest, StatsRequest {
    private @Nullable T result;

    KvRequest() {}

    /**
     * Gets a value.
     *
     * @return empty if there is none
     */
    public static KvRequest<Optional<KvItem>> get(byte[] key) {
        return new GetRequest(checked(key), GetRequest.BY_READ);
    }

    /**
     * Gets many values at once; those whose locations are known, by READs with one doorbell.
     *
     * @param keys the keys; one may occur more than once
     * @return one entry per key, in the order of the keys
     */
    public static KvRequest<List<Optional<KvItem>>> getAll(List<byte[]> keys) {
        keys.forEach(KvRequest::checked);
        return new GetAllRequest(List.copyOf(keys));
    }

    /**
     * Stores a value.
     *
     * @param flags kept with the value, 32 bits
     * @param exptime as in memcached, in seconds: 0 for never; up to 30 days counted from now; more counted from 1970;
     *     negative for at once
     */
    public static LineRequest<SetStatus> set(byte[] key, int flags, int exptime, byte[] value) {
        return store("set", key, flags, exptime, value, "");
    }

    /**
     * Stores a value if the key has none.
     *
     * @param flags as for {@link #set}
     * @param exptime as for {@link #set}
     */
    public static LineRequest<SetStatus> add(byte[] key, int flags, int exptime, byte[] value) {
        return store("add", key, flags, exptime, value, "");
    }

    /**
     * Stores a value if the key has one.
     *
     * @param flags as for {@link #set}
     * @param exptime as for {@link #set}
     */
    public static LineRequest<SetStatus> replace(byte[] key, int flags, int exptime, byte[] value) {
        return store("replace", key, flags, exptime, value, "");
    }

    /**
     * Appends bytes to a value; its flags and expiry stay.
     *
     * @param value the bytes
     */
    public static LineRequest<SetStatus> append(byte[] key, byte[] value) {
        return store("append", key, 0, 0, value, "");
    }

    /**
     * Prepends bytes to a value; its flags and expiry stay.
     *
     * @param value the bytes
     */
    public static LineRequest<SetStatus> prepend(byte[] key, byte[] value) {
        return store("prepend", key, 0, 0, value, "");
    }

    /**
     * Stores a value unless the current one has changed since it was read.
     *
     * @param flags as for {@link #set}
     * @param exptime as for {@link #set}
     * @param cas {@link KvItem#cas()} of the value that was read
     */
    public static LineRequest<SetStatus> cas(byte[] key, int flags, int exptime, byte[] value, long cas) {
        return store("cas", key, flags, exptime, value, " " + Long.toUnsignedString(cas));
    }

    /**
     * Removes a value.
     *
     * @return true if there was one
     */
    public static LineRequest<Boolean> delete(byte[] key) {
        return new LineRequest<>("delete", checked(key), "", null, true, Answers::deleted);
    }

    /**
     * Adds to a value that is a decimal number, modulo 2^64.
     *
     * @param delta how much, unsigned
     * @return the new value, unsigned; empty if there is none
     */
    public static LineRequest<OptionalLong> incr(byte[] key, long delta) {
        return new LineRequest<>(
                "incr", checked(key), " " + Long.toUnsignedString(delta), null, false, Answers::number);
    }

    /**
     * Subtracts from a value that is a decimal number, and stops at 0.
     *
     * @param delta how much, unsigned
     * @return the new value, unsigned; empty if there is none
     */
    public static LineRequest<OptionalLong> decr(byte[] key, long delta) {
        return new LineRequest<>(
                "decr", checked(key), " " + Long.toUnsignedString(delta), null, false, Answers::number);
    }

    /**
     * Changes the expiry of a value.
     *
     * @param exptime as for {@link #set}
     * @return true if there is one
     */
    public static LineRequest<Boolean> touch(byte[] key, int exptime) {
        return new LineRequest<>("touch", checked(key), " " + exptime, null, false, Answers::touched);
    }

    /**
     * Gets a value and changes its expiry.
     *
     * @param exptime as for {@link #set}
     * @return empty if there is none
     */
    public static KvRequest<Optional<KvItem>> getAndTouch(byte[] key, int exptime) {
        return new GetRequest(checked(key), "gats " + exptime);
    }

    /**
     * Deletes all values that exist now, or when the delay is over.
     *
     * @param delaySeconds seconds, at least 0
     */
    public static LineRequest<Boolean> flushAll(int delaySeconds) {
        if (delaySeconds < 0) {
            throw new IllegalArgumentException("delaySeconds=" + delaySeconds + ": expected at least 0");
        }
        String arguments = delaySeconds == 0 ? "" : " " + delaySeconds;
        return new LineRequest<>("flush_all", null, arguments, null, true, Answers::ok);
    }

    /**
     * The server's statistics.
     *
     * @param what "" for the general statistics, or another group that the server knows: settings, items, slabs, rdma,
     *     ...
     * @return names and values in the server's order
     */
    public static KvRequest<Map<String, String>> stats(String what) {
        if (!what.matches("[!-~ ]{0,200}")) {
            throw new IllegalArgumentException(
                    "stats \"" + what + "\": expected words of ASCII, at most 200 characters");
        }
        return new StatsRequest(what);
    }

    /** The server's version. */
    public static LineRequest<String> version() {
        return new LineRequest<>("version", null, "", null, false, Answers::version);
    }

    /**
     * Limits how long the answer may take, instead of the client's own limit.
     *
     * @param limit positive
     * @return this
     */
    public KvRequest<T> timeout(Duration limit) {
        if (limit.isNegative() || limit.isZero()) {
            throw new IllegalArgumentException("timeout=" + limit + ": expected a positive time");
        }
        ownTimeoutNs(limit.toNanos());
        return this;
    }

    private static LineRequest<SetStatus> store(
            String command, byte[] key, int flags, int exptime, byte[] value, String last) {
        String arguments = " " + Integer.toUnsignedString(flags) + " " + exptime + " " + value.length + last;
        return new LineRequest<>(command, checked(key), arguments, value, true, Answers::stored);
    }

    static byte[] checked(byte[] key) {
        if (key.length < 1 || key.length > TextProtocol.MAX_KEY_LENGTH) {
            throw new IllegalArgumentException("key of " + key.length + " bytes, expected 1 to 250");
        }
        for (byte b : key) {
            if ((b >= 0 && b <= ' ') || b == 0x7F) {
                throw new IllegalArgumentException("key with a blank or control character: byte " + b);
            }
        }
        return key;
    }

    /** The keys that it concerns, in its order; empty if it concerns the whole server. */
    public abstract List<byte[]> keys();

    /** Sends it. */
    abstract void send(KvConnection connection);

    final void complete(T value) {
        if (!isDone()) {
            result = value;
            finish();
        }
    }

    /** The result of a request that is done. */
    final T result() {
        KvException failure = failure();
        if (failure != null) {
            throw failure;
        }
        if (result == null) {
            throw new IllegalStateException("not done");
        }
        return result;
    }
}
