package org.softrdma.farm.node;

import java.util.SortedSet;
import java.util.TreeSet;

/** Numbers of a machine's transactions, and which of them are over everywhere. The node's thread. */
final class TransactionNumbers {
    private final SortedSet<Long> open = new TreeSet<>();
    private long last;

    /** The next number. */
    long begin() {
        open.add(++last);
        return last;
    }

    /** A transaction is over everywhere. */
    void over(long number) {
        open.remove(number);
    }

    /** All transactions up to this one are over. */
    long truncated() {
        return open.isEmpty() ? last : open.first() - 1;
    }
}
