package org.softrdma.farm.node;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A transaction whose body runs on the node's thread. When the body asks for something that has to be waited for, it is left,
 * and runs again from its beginning once that has come. The node's thread.
 */
final class TransactionTask<T> extends OutcomeTask {
    private final NodeParts node;
    private final TransactionBody<T> body;
    private final FarmTransaction transaction;
    /** What it waits for: something that the body has asked for, or the commit. */
    private @Nullable NodeTask awaited;

    private Runnable then = () -> {};
    private @Nullable CommitTask commit;
    private @Nullable TransactionOutcome<T> outcome;
    private @Nullable Throwable thrown;

    /** The body cannot go on yet. */
    private static final class Left extends RuntimeException {
        private static final long serialVersionUID = 1;
        private static final String MESSAGE = "the body of a transaction must not catch what the transaction throws";

        Left() {
            super(MESSAGE, null, false, false);
        }
    }

    TransactionTask(NodeParts node, TransactionBody<T> body) {
        this.node = node;
        this.body = body;
        transaction = new FarmTransaction(node, this::leave);
    }

    private void leave(NodeTask task, Runnable whenDone) {
        awaited = task;
        then = whenDone;
        throw new Left();
    }

    @Override
    boolean advance(long nowNs) {
        try {
            while (outcome == null && thrown == null) {
                NodeTask task = awaited;
                if (task != null) {
                    if (!task.advance(nowNs)) {
                        return false;
                    }
                    awaited = null;
                    then.run();
                }
                if (outcome == null) {
                    runBody();
                }
            }
        } catch (FarmTransaction.Abandoned e) {
            outcome = new TransactionOutcome.Aborted<>(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            thrown = e;
        }
        if (thrown != null || outcome instanceof TransactionOutcome.Aborted<T>) {
            transaction.giveUp();
        }
        return true;
    }

    private void runBody() {
        transaction.rewind();
        T value;
        try {
            value = body.run(transaction);
        } catch (Left _) {
            return;
        }
        if (awaited != null) {
            throw new IllegalStateException(Left.MESSAGE);
        }
        if (!transaction.needsCommit()) {
            outcome = new TransactionOutcome.Committed<>(value);
            return;
        }
        CommitTask made = new CommitTask(node, transaction);
        commit = made;
        awaited = made;
        then = () -> {
            made.requireSuccess();
            outcome = made.outcome(value);
        };
    }

    @Override
    void onEpoch() {
        NodeTask task = awaited;
        if (task != null) {
            task.onEpoch();
        }
    }

    @Override
    boolean isBegun() {
        CommitTask current = commit;
        return current != null && current.isBegun();
    }

    @Override
    TransactionOutcome<T> outcome() {
        TransactionOutcome<T> known = outcome;
        return known == null ? Objects.requireNonNull(commit).outcome(null) : known; // unknown
    }

    @Override
    @Nullable
    Throwable thrown() {
        return thrown;
    }
}
