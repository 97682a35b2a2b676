package org.softrdma.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is created with (C: {@code ibv_qp_init_attr}, always RC).
 *
 * @param sendCompletions where completions of the send queue go
 * @param receiveCompletions where completions of RECVs go; may be the same queue
 * @param limits the minimum sizes; those of RECVs do not matter with {@code sharedReceives}
 * @param signalAll true if every send work request gives a completion (C: {@code sq_sig_all}); false if only those
 *     with {@link SendFlags#SIGNALLED} do, and those that fail
 * @param sharedReceives where its RECVs come from; null if it has a receive queue of its own
 * @param relaxedReads true if a READ may be executed before the SENDs and WRITEs that were posted before it have
 *     reached the peer's memory. Completions keep their order. A device need not make use of it (libfabric: neither
 *     {@code FI_ORDER_RAW} nor {@code FI_ORDER_RAS} is asked for)
 */
public record QueuePairAttributes(
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        QueuePairLimits limits,
        boolean signalAll,
        @Nullable SharedReceiveQueue sharedReceives,
        boolean relaxedReads) {
    /** With a receive queue of its own, and READs in order. */
    public QueuePairAttributes(
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            QueuePairLimits limits,
            boolean signalAll) {
        this(sendCompletions, receiveCompletions, limits, signalAll, null, false);
    }

    /**
     * One completion queue for both; only requests with {@link SendFlags#SIGNALLED} give a completion.
     *
     * @param completions where all completions go
     * @param limits the minimum sizes
     */
    public static QueuePairAttributes of(CompletionQueue completions, QueuePairLimits limits) {
        return new QueuePairAttributes(completions, completions, limits, false, null, false);
    }

    /**
     * The same with RECVs from a shared queue.
     *
     * @param newSharedReceives a queue of the same device
     */
    public QueuePairAttributes withSharedReceives(SharedReceiveQueue newSharedReceives) {
        return new QueuePairAttributes(
                sendCompletions, receiveCompletions, limits, signalAll, newSharedReceives, relaxedReads);
    }

    /** The same with READs that may be executed before earlier SENDs and WRITEs have reached the peer's memory. */
    public QueuePairAttributes withRelaxedReads() {
        return new QueuePairAttributes(sendCompletions, receiveCompletions, limits, signalAll, sharedReceives, true);
    }
}
