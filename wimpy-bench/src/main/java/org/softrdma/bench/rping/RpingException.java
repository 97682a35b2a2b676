package org.softrdma.bench.rping;

import java.io.Serial;

/** A ping failed; the message is one sentence for the person who asked for it. */
public final class RpingException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what was expected, what came, what to do
     */
    public RpingException(String message) {
        super(message);
    }
}
