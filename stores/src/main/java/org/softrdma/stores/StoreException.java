package org.softrdma.stores;

import org.jspecify.annotations.Nullable;

/** A client or server of a store cannot be made, or a {@link BlockingStore} got no answer. The message says why. */
public final class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What happened. */
    public StoreException(String message) {
        super(message);
    }

    /** What happened, and what caused it. */
    public StoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
