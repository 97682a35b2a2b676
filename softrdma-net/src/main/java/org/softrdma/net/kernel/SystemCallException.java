package org.softrdma.net.kernel;

import java.io.IOException;

/** A system call has failed: which one, and its errno. */
public final class SystemCallException extends IOException {
    private static final long serialVersionUID = 1;

    private static final int ENOMEM = 12;
    private static final int ENFILE = 23;
    private static final int EMFILE = 24;

    private final int errno;

    /**
     * Of a call.
     *
     * @param what its name
     * @param errno that it left
     */
    public SystemCallException(String what, int errno) {
        super(what + ": errno " + errno + meaning(errno));
        this.errno = errno;
    }

    /** Of those that are no fault of the call. */
    private static String meaning(int errno) {
        return switch (errno) {
            case ENOMEM -> ", Cannot allocate memory";
            case ENFILE -> ", Too many open files in system";
            case EMFILE -> ", Too many open files";
            default -> "";
        };
    }

    /** The number of the failure. */
    public int errno() {
        return errno;
    }
}
