package org.softrdma.farm.node;

import org.jspecify.annotations.Nullable;

/**
 * What a transaction does.
 *
 * @param <T> type of its result
 */
@FunctionalInterface
public interface TransactionBody<T> {
    /** Reads, writes, allocates and frees. */
    @Nullable
    T run(FarmTransaction transaction);
}
