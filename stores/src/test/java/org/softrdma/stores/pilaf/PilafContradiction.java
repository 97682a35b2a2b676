package org.softrdma.stores.pilaf;

/** What clients have seen is not a history of a store. */
final class PilafContradiction extends AssertionError {
    private static final long serialVersionUID = 1L;

    PilafContradiction(String message) {
        super(message);
    }
}
