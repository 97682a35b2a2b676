package org.softrdma.kv.client;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The server is gone, does not answer in time, or answered something that is not in the protocol. The client that threw it
 * can only be closed; it throws the same again.
 */
public final class KvException extends RuntimeException {
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
}
