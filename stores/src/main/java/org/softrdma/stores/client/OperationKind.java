package org.softrdma.stores.client;

import org.softrdma.stores.Outcome;

/** What a client may be asked for. */
public enum OperationKind {
    /** The value of a key. */
    GET(Outcome.FOUND),
    /** Stores a pair. */
    PUT(Outcome.STORED),
    /** Removes a pair. */
    REMOVE(Outcome.REMOVED);

    private final Outcome success;

    OperationKind(Outcome success) {
        this.success = success;
    }

    /** Its outcome if nothing stands in its way. */
    public Outcome success() {
        return success;
    }

    /** True if it may change what is stored. */
    public boolean isChange() {
        return this != GET;
    }
}
