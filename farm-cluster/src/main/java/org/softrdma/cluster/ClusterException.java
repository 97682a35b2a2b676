package org.softrdma.cluster;

import java.io.Serial;

/** A cluster cannot be joined or looked at as asked: the message says why, and what to do. */
public final class ClusterException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With a reason. */
    public ClusterException(String message) {
        super(message);
    }

    /** With a reason and what shows it. */
    public ClusterException(String message, Throwable cause) {
        super(message, cause);
    }
}
