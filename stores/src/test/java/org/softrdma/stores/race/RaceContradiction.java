package org.softrdma.stores.race;

/** What clients have seen is not a history of a store. */
public final class RaceContradiction extends AssertionError {
    private static final long serialVersionUID = 1L;

    RaceContradiction(String message) {
        super(message);
    }
}
