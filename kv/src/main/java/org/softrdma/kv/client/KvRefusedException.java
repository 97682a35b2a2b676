package org.softrdma.kv.client;

import java.io.Serial;

/**
 * The server received the request but did not execute it: unknown command, number expected, and so on.
 */
public final class KvRefusedException extends KvException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message which server, which command, and the server's words
     */
    public KvRefusedException(String message) {
        super(message);
    }

    private KvRefusedException(KvRefusedException cause) {
        super(String.valueOf(cause.getMessage()), cause);
    }

    @Override
    public KvRefusedException forCaller() {
        return new KvRefusedException(this);
    }
}
