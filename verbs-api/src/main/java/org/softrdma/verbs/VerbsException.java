package org.softrdma.verbs;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A verbs call failed for a reason outside the caller's control. A caller's own mistake is an {@link
 * IllegalArgumentException} or {@link IllegalStateException}; a failed work request is a {@link WorkCompletion}.
 */
public class VerbsException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final VerbsErrorCode code;

    /**
     * A failure without a cause.
     *
     * @param code why
     * @param message what was expected, what happened, and what the user can do
     */
    public VerbsException(VerbsErrorCode code, String message) {
        this(code, message, null);
    }

    /**
     * A failure with a cause.
     *
     * @param code why
     * @param message what was expected, what happened, and what the user can do
     * @param cause what led to it
     */
    public VerbsException(VerbsErrorCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** Why it failed. */
    public VerbsErrorCode code() {
        return code;
    }

    /**
     * The same failure for the thread that calls this, with that thread's stack trace and with this exception as its
     * cause. For providers: an engine's thread found the failure, and the application's thread throws it.
     */
    public VerbsException forCaller() {
        return new VerbsException(code, String.valueOf(getMessage()), this);
    }

    /** The name of the class, the code, and the message. */
    @Override
    @SuppressWarnings(
            "OverrideThrowableToString") // the message alone goes into other messages, which have no use for it
    public String toString() {
        return getClass().getName() + ": " + code + ": " + getMessage();
    }
}
