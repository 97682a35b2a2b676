package org.softrdma.ibverbs;

import java.io.Serial;

/** The C libraries cannot be used by this process: why, and what its user can do. */
public final class LibraryUnavailableException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String remedy;

    /**
     * Makes one.
     *
     * @param reason what is missing
     * @param remedy what to do
     * @param cause what was thrown
     */
    public LibraryUnavailableException(String reason, String remedy, Throwable cause) {
        super(reason, cause);
        this.remedy = remedy;
    }

    /**
     * Makes one without a cause.
     *
     * @param reason what is missing
     * @param remedy what to do
     */
    public LibraryUnavailableException(String reason, String remedy) {
        super(reason);
        this.remedy = remedy;
    }

    /** What to do. */
    public String remedy() {
        return remedy;
    }
}
