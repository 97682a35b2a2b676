package org.softrdma.kv.server.host;

import java.io.Serial;

/** A network cannot serve such a port here; another one may. */
public final class NetworkUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message why, in a few words
     */
    public NetworkUnavailableException(String message) {
        super(message);
    }

    /**
     * Makes one.
     *
     * @param message why, in a few words
     * @param cause what failed
     */
    public NetworkUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
