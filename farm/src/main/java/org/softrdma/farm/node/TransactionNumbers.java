package org.softrdma.farm.node;

import java.util.SortedSet;
import java.util.TreeSet;

/** Numbers of a machine's transactions, and which of them are over everywhere. The node's thread. */
final class TransactionNumbers {
    /** How many transactions may begin behind one that is not over: their records wait for it on all machines. */
    static final int MOST_BEHIND = 1024;

    private final SortedSet<Long> open = new TreeSet<>();
    private long last;

    /** True if one more may begin. */
    boolean mayBegin() {
        return last - truncated() < MOST_BEHIND;
    }

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
