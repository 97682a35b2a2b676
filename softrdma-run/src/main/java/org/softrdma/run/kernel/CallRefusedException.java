package org.softrdma.run.kernel;

import java.io.Serial;

/** A program's call is answered with an errno. Has no stack trace: it is an answer, no fault. */
public final class CallRefusedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    private final int errno;

    /**
     * An answer.
     *
     * @param errno one of {@link ErrorNumber}
     */
    public CallRefusedException(int errno) {
        super("errno " + errno, null, false, false);
        this.errno = errno;
    }

    /** The errno that the program sees. */
    public int errno() {
        return errno;
    }
}
