package org.softrdma.kv.server;

import java.util.concurrent.TimeUnit;

/**
 * How long the server waits for clients.
 *
 * @param idleTimeoutSeconds after how many seconds without a request a connection is closed, unless it has a queue
 *     pair; 0 for never
 * @param answerTimeoutNs how long a client may take no answer to its rgets before its queue pair is ended: outstanding
 *     answers keep memory from being used again; at least 1 ms, looked at every second
 * @param helloTimeoutNs how long a client may take from its {@code rdma hello} to its queue pair, and with that until
 *     it says hello there; at least 1 ms
 */
public record ServerTimeouts(int idleTimeoutSeconds, long answerTimeoutNs, long helloTimeoutNs) {
    /** Connections may be idle for ever. No working client takes 10 s for an answer, nor 30 s for its queue pair. */
    public static final ServerTimeouts DEFAULT =
            new ServerTimeouts(0, TimeUnit.SECONDS.toNanos(10), TimeUnit.SECONDS.toNanos(30));

    private static final long LEAST_NS = 1_000_000;

    /** Checks the times. */
    public ServerTimeouts {
        SettingsLock.require("idleTimeoutSeconds", idleTimeoutSeconds, 0, Integer.MAX_VALUE);
        SettingsLock.require("answerTimeoutNs", answerTimeoutNs, LEAST_NS, Long.MAX_VALUE);
        SettingsLock.require("helloTimeoutNs", helloTimeoutNs, LEAST_NS, Long.MAX_VALUE);
    }

    /** The same with another time for idle connections. */
    public ServerTimeouts withIdleTimeoutSeconds(int seconds) {
        return new ServerTimeouts(seconds, answerTimeoutNs, helloTimeoutNs);
    }

    /** The same with another time for answers. */
    public ServerTimeouts withAnswerTimeoutNs(long timeoutNs) {
        return new ServerTimeouts(idleTimeoutSeconds, timeoutNs, helloTimeoutNs);
    }

    /** The same with another time for hellos. */
    public ServerTimeouts withHelloTimeoutNs(long timeoutNs) {
        return new ServerTimeouts(idleTimeoutSeconds, answerTimeoutNs, timeoutNs);
    }
}
