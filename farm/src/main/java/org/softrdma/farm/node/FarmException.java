package org.softrdma.farm.node;

/** What was asked for cannot be: the message says why. */
public final class FarmException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** With a reason. */
    public FarmException(String message) {
        super(message);
    }
}
