package org.softrdma.run.launch;

import java.io.Serial;

/** A program was not started: one sentence says why. */
public final class LaunchFailureException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    private final int exitCode;

    /**
     * A failure.
     *
     * @param exitCode as shells have it: 127 if there is no such program, 126 if it cannot be run
     */
    public LaunchFailureException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** What a shell would end with. */
    public int exitCode() {
        return exitCode;
    }
}
