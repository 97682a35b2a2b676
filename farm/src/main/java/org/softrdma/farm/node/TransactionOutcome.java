package org.softrdma.farm.node;

import org.jspecify.annotations.Nullable;
import org.softrdma.farm.transaction.TxId;

/**
 * What came of a transaction.
 *
 * @param <T> type of its result
 */
public sealed interface TransactionOutcome<T> {
    /**
     * It has taken effect.
     *
     * @param value what it returned
     */
    record Committed<T>(@Nullable T value) implements TransactionOutcome<T> {}

    /**
     * It has not taken effect, and never will.
     *
     * @param reason why
     */
    record Aborted<T>(String reason) implements TransactionOutcome<T> {}

    /**
     * It may have taken effect, and may yet.
     *
     * @param id its name
     */
    record Unknown<T>(TxId id) implements TransactionOutcome<T> {}
}
