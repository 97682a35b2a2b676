package org.softrdma.farm.node;

import org.jspecify.annotations.Nullable;

/**
 * Something that an application has asked a node for. The node's thread does it; the application's waits until it is
 * done, and then reads what came of it.
 */
abstract class NodeTask {
    private @Nullable String failure;
    private volatile boolean done;

    /**
     * Goes on, if it can.
     *
     * @param nowNs by the node's clock
     * @return true once it is done
     */
    abstract boolean advance(long nowNs);

    /** The node has learnt an epoch: what was begun in older ones is given up. No answer comes any more. */
    abstract void onEpoch();

    /** It is done; what it has set is seen by whoever waits. */
    final void complete() {
        done = true;
    }

    /** It cannot be done. */
    final boolean fail(String reason) {
        failure = reason;
        return true;
    }

    /** It begins anew, once it is done. */
    final void renew() {
        failure = null;
        done = false;
    }

    /** Why it could not be done, or null. */
    final @Nullable String failure() {
        return failure;
    }

    final boolean isDone() {
        return done;
    }

    /**
     * Throws if it could not be done.
     *
     * @throws FarmException with the reason
     */
    final void requireSuccess() {
        if (failure != null) {
            throw new FarmException(failure);
        }
    }
}
