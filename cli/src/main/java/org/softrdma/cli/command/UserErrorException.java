package org.softrdma.cli.command;

import java.io.Serial;

/**
 * Something the person at the command line can put right: the message is one clear sentence, shown without a stack
 * trace, and the exit code is {@link ExitCode#USAGE}.
 */
public final class UserErrorException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * @param message one sentence that says what is wrong and what to do about it
     */
    public UserErrorException(final String message) {
        super(message);
    }

    /**
     * @param message one sentence that says what is wrong and what to do about it
     * @param cause   shown with {@code --stacktrace} only
     */
    public UserErrorException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
