package org.softrdma.verbs;

/**
 * What a queue pair is created with (C: {@code ibv_qp_init_attr}, always RC).
 *
 * @param sendCompletions where completions of the send queue go
 * @param receiveCompletions where completions of RECVs go; may be the same queue
 * @param limits the least sizes wanted
 * @param signalAll true if every send work request gives a completion (C: {@code sq_sig_all}); false if only those
 *     with {@link SendFlags#SIGNALLED} do, and those that fail
 */
public record QueuePairAttributes(
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        QueuePairLimits limits,
        boolean signalAll) {
    /**
     * One completion queue for both; only requests with {@link SendFlags#SIGNALLED} give a completion.
     *
     * @param completions where all completions go
     * @param limits the least sizes wanted
     */
    public static QueuePairAttributes of(CompletionQueue completions, QueuePairLimits limits) {
        return new QueuePairAttributes(completions, completions, limits, false);
    }
}
