package org.softrdma.farm.node;

import org.jspecify.annotations.Nullable;

/** A task that takes effect or does not. */
abstract class OutcomeTask extends NodeTask {
    /** What came of it, once it is done; unknown, if it {@link #isBegun() has begun} and is not done. */
    abstract TransactionOutcome<?> outcome();

    /** True once it may have sent something that takes effect. Any thread. */
    abstract boolean isBegun();

    /** Why it has no outcome, or null. */
    @Nullable
    Throwable thrown() {
        String failure = failure();
        return failure == null ? null : new FarmException(failure);
    }
}
