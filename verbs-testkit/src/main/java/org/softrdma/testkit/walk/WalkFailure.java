package org.softrdma.testkit.walk;

/** A device and the model disagree: the message says on what. Any thread. */
public final class WalkFailure extends AssertionError {
    private static final long serialVersionUID = 1;

    /** A disagreement. */
    public WalkFailure(String message) {
        super(message);
    }

    /** Something was thrown that the model does not expect. */
    public WalkFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
