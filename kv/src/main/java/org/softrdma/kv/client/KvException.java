package org.softrdma.kv.client;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The server is gone, violated the protocol, or (the subclasses) did not answer in time or refused the request. The
 * client stays usable: it reconnects when it is next used. Whether the server executed the request is unknown, except
 * after {@link KvRefusedException}: it did not.
 */
public sealed class KvException extends RuntimeException permits KvTimeoutException, KvRefusedException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message which server, and what is wrong
     */
    public KvException(String message) {
        this(message, null);
    }

    /**
     * Makes one with a cause.
     *
     * @param message which server, and what is wrong
     * @param cause what led to it
     */
    public KvException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /**
     * The same failure for the thread that calls this, with that thread's stack trace and with this exception as its
     * cause. A shared client uses it: its own thread found the failure, and the application's thread throws it.
     */
    public KvException forCaller() {
        return new KvException(String.valueOf(getMessage()), this);
    }
}
