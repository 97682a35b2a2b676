package org.softrdma.bench.wimpy;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The study cannot go on: a server did not start, died, or returned a wrong value. */
public final class WimpyException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, for people
     */
    public WimpyException(String message) {
        this(message, null);
    }

    /**
     * Makes one with a cause.
     *
     * @param message what happened, for people
     * @param cause what led to it
     */
    public WimpyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
