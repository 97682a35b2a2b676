package org.softrdma.rdmacore.abi;

import java.io.Serial;

/** The layout of the native structures differs from what this provider knows, so none of them may be used. */
public final class AbiMismatchException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what was expected and what was found
     */
    public AbiMismatchException(String message) {
        super(message);
    }
}
