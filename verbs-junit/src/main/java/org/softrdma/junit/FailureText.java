package org.softrdma.junit;

import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;

/** Gives a failure of a test another message. Any thread. */
final class FailureText {
    private FailureText() {}

    /**
     * A failure with a message, the stack trace of another one, and the values that it has compared.
     *
     * @param message of the result
     * @param failure whose values and stack trace it takes, if there is one
     * @param cause of the result
     */
    static AssertionFailedError with(String message, @Nullable Throwable failure, Throwable cause) {
        AssertionFailedError error =
                failure instanceof AssertionFailedError known && known.isExpectedDefined() && known.isActualDefined()
                        ? new AssertionFailedError(message, known.getExpected(), known.getActual(), cause)
                        : new AssertionFailedError(message, cause);
        if (failure != null) {
            error.setStackTrace(failure.getStackTrace());
        }
        return error;
    }

    /** What a failure says: the message of an assertion, and the class as well of anything else. */
    static String of(Throwable failure) {
        return failure instanceof AssertionError ? String.valueOf(failure.getMessage()) : failure.toString();
    }
}
