package org.softrdma.fabric.scheduler;

/**
 * Ends a simulated thread from within: its node was killed, or the run is over. Not for the code under test, which is
 * why it is not an {@link Exception}; whoever catches it anyway gets it again at the next wait.
 */
public final class Unwinding extends Error {
    private static final long serialVersionUID = 1;

    Unwinding(String reason) {
        super(reason, null, false, false);
    }
}
