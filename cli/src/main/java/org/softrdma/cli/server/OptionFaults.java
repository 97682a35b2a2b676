package org.softrdma.cli.server;

import java.util.ArrayList;
import java.util.List;

/** What is wrong with the options of a command, so that all of it is told at once. */
final class OptionFaults {
    private final List<String> faults = new ArrayList<>();

    /**
     * Notes a fault unless something holds.
     *
     * @param holds it does
     * @param what the option as the user wrote it
     * @param expected what it should be
     */
    void check(boolean holds, String what, String expected) {
        if (!holds) {
            faults.add(what + ": expected " + expected);
        }
    }

    boolean isEmpty() {
        return faults.isEmpty();
    }

    /** All of them in one line. */
    @Override
    public String toString() {
        return String.join("; ", faults);
    }
}
