package org.softrdma.fabric.fault;

/** Checks of the numbers in a plan. Any thread. */
final class Range {
    private Range() {}

    static void requireAtLeast(long least, String name, long value) {
        if (value < least) {
            throw new IllegalArgumentException(name + "=" + value + ": expected at least " + least);
        }
    }
}
