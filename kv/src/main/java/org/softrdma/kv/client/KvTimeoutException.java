package org.softrdma.kv.client;

import java.io.Serial;

/** The server did not answer a request in its time. An answer that comes later is dropped. */
public final class KvTimeoutException extends KvException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message which server, and how long was waited
     */
    public KvTimeoutException(String message) {
        super(message);
    }

    private KvTimeoutException(KvTimeoutException cause) {
        super(String.valueOf(cause.getMessage()), cause);
    }

    @Override
    public KvTimeoutException forCaller() {
        return new KvTimeoutException(this);
    }
}
