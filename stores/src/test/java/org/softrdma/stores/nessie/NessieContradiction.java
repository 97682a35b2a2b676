package org.softrdma.stores.nessie;

/** What clients have seen is not a history of a store. */
final class NessieContradiction extends AssertionError {
    private static final long serialVersionUID = 1L;

    NessieContradiction(String message) {
        super(message);
    }
}
