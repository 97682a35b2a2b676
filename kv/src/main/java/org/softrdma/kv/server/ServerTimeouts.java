package org.softrdma.kv.server;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** How long the server waits for clients: a part of {@link KvServerContext}. Not thread-safe. */
public final class ServerTimeouts {
    /** Default of {@link #answerTimeoutNs()}: no working client is that slow. */
    public static final long DEFAULT_ANSWER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** Default of {@link #helloTimeoutNs()}. */
    public static final long DEFAULT_HELLO_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

    private final SettingsLock lock;
    private int idleTimeoutSeconds;
    private long answerTimeoutNs = DEFAULT_ANSWER_TIMEOUT_NS;
    private long helloTimeoutNs = DEFAULT_HELLO_TIMEOUT_NS;

    ServerTimeouts(SettingsLock lock) {
        this.lock = lock;
    }

    /**
     * Sets after how many seconds without a request a connection is closed, unless it has a queue pair.
     *
     * @param seconds 0 for never
     */
    public ServerTimeouts idleTimeoutSeconds(int seconds) {
        idleTimeoutSeconds = lock.changed(seconds);
        return this;
    }

    /** After how many seconds without a request a connection is closed, 0 for never. */
    public int idleTimeoutSeconds() {
        return idleTimeoutSeconds;
    }

    /**
     * Sets how long a client may take no answer to its rgets before its queue pair is ended: outstanding answers keep
     * memory from being used again.
     *
     * @param timeoutNs at least 1 ms; looked at every second
     */
    public ServerTimeouts answerTimeoutNs(long timeoutNs) {
        answerTimeoutNs = lock.changed(timeoutNs);
        return this;
    }

    /** After how many nanoseconds without progress of its answers a queue pair is ended. */
    public long answerTimeoutNs() {
        return answerTimeoutNs;
    }

    /**
     * Sets how long a client may take from its {@code rdma hello} to its queue pair, and with that until it says
     * hello there.
     *
     * @param timeoutNs at least 1 ms
     */
    public ServerTimeouts helloTimeoutNs(long timeoutNs) {
        helloTimeoutNs = lock.changed(timeoutNs);
        return this;
    }

    /** For how many nanoseconds a token is good. */
    public long helloTimeoutNs() {
        return helloTimeoutNs;
    }

    void check(List<String> faults) {
        SettingsLock.check(faults, "idleTimeoutSeconds", idleTimeoutSeconds, 0, Integer.MAX_VALUE);
        SettingsLock.check(faults, "answerTimeoutNs", answerTimeoutNs, 1_000_000, Long.MAX_VALUE);
        SettingsLock.check(faults, "helloTimeoutNs", helloTimeoutNs, 1_000_000, Long.MAX_VALUE);
    }
}
