package org.softrdma.sim.wire;

import java.io.Serial;

/** A peer's handshake frame cannot be understood. The message says what was expected and what was received. */
public final class MalformedFrameException extends Exception {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Makes one. */
    public MalformedFrameException(String message) {
        super(message);
    }
}
