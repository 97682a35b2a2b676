package org.softrdma.rdmacore.abi;

import java.io.Serial;

/** The native side is not laid out as this provider knows it; nothing of it may be used. */
public final class AbiMismatchException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what was expected and what came
     */
    public AbiMismatchException(String message) {
        super(message);
    }
}
