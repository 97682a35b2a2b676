package org.softrdma.kv.client;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.provider.TimeLimit;

/**
 * What somebody waits for: how long, and whether it is done. A result that comes after its time is dropped; the
 * connection on which none comes long after it counts as dead. Made and given away by any one thread, then owned by
 * the thread of the client.
 */
abstract class Pending {
    private long ownTimeoutNs;
    private long beginNs;
    private long deadlineNs;
    private long patienceEndNs;
    private boolean begun;
    private boolean done;
    private @Nullable KvException failure;
    private @Nullable Runnable listener;

    /** Limits how long the answer may take, instead of the client's own limit. */
    final void ownTimeoutNs(long timeoutNs) {
        ownTimeoutNs = timeoutNs;
    }

    /** Called once, when this is done, by whoever makes it so. */
    final void onDone(Runnable newListener) {
        listener = newListener;
    }

    /** Says from when its time runs. */
    final void beginAt(long nowNs) {
        if (begun) {
            throw new IllegalStateException("a request can be used once; make another one");
        }
        begun = true;
        beginNs = nowNs;
    }

    /** Sets the limits of a request that is about to be sent. */
    final void limit(long nowNs, long defaultTimeoutNs) {
        long limitNs = timeoutNs(defaultTimeoutNs);
        deadlineNs = beginNs + limitNs;
        patienceEndNs = nowNs + Math.max(limitNs, defaultTimeoutNs);
    }

    /** How long the answer may take. */
    final long timeoutNs(long defaultTimeoutNs) {
        return ownTimeoutNs == 0 ? defaultTimeoutNs : ownTimeoutNs;
    }

    /** Takes over the limits of the request that this is a part of. */
    final void limitLike(Pending whole) {
        beginNs = whole.beginNs;
        deadlineNs = whole.deadlineNs;
        patienceEndNs = whole.patienceEndNs;
    }

    /** The answer will never come. */
    final void fail(KvException reason) {
        if (!done) {
            failure = reason;
            finish();
        }
    }

    /** It has come. */
    final void finish() {
        done = true;
        if (listener != null) {
            listener.run();
        }
    }

    final boolean isDone() {
        return done;
    }

    /** Why there is no result, or null. */
    final @Nullable KvException failure() {
        return failure;
    }

    final long deadlineNs() {
        return deadlineNs;
    }

    /** When the next of its limits is reached. */
    final long nextCheckNs() {
        return done ? patienceEndNs : deadlineNs;
    }

    /** When the connection counts as dead if the answer is not there. */
    final long patienceEndNs() {
        return patienceEndNs;
    }

    /** Fails if the time is over and it is not done. */
    final void checkDeadline(long nowNs) {
        if (!done && nowNs - deadlineNs >= 0) {
            fail(new KvTimeoutException(
                    "the server did not answer in time: not within " + TimeLimit.text(deadlineNs - beginNs)));
        }
    }
}
