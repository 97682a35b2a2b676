package org.softrdma.testkit.history;

import java.util.List;

/**
 * What a check of transactions found.
 *
 * @param transactions how many there were
 * @param violation what is wrong, in words; empty if nothing is
 * @param guilty the transactions that contradict each other, in the order in which the violation tells them
 */
public record ListVerdict(int transactions, String violation, List<ListTransaction> guilty) {
    /** Copies. */
    public ListVerdict {
        guilty = List.copyOf(guilty);
    }

    /** True if the transactions are strictly serializable. */
    public boolean isSerializable() {
        return violation.isEmpty();
    }

    /**
     * Fails unless the transactions are strictly serializable.
     *
     * @throws AssertionError with the violation
     */
    public void requireSerializable() {
        if (!isSerializable()) {
            throw new AssertionError(toString());
        }
    }

    @Override
    public String toString() {
        return "history of " + transactions + " transactions: "
                + (isSerializable() ? "strictly serializable" : violation);
    }
}
