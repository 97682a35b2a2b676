package org.softrdma.verbs;

/**
 * What a queue pair is created with (C: {@code ibv_qp_init_attr}, always RC).
 *
 * @param sendCompletions where completions of the send queue go
 * @param receiveCompletions where completions of RECVs go; may be the same queue
 * @param limits sizes, as minima
 * @param signalAll every send work request gives a completion (C: {@code sq_sig_all}); otherwise those with {@link
 *     SendFlags#SIGNALLED} and every failed one
 */
public record QueuePairAttributes(
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        QueuePairLimits limits,
        boolean signalAll) {
    /**
     * One completion queue for both, only flagged requests signalled.
     *
     * @param completions where all completions go
     * @param limits sizes, as minima
     */
    public static QueuePairAttributes of(CompletionQueue completions, QueuePairLimits limits) {
        return new QueuePairAttributes(completions, completions, limits, false);
    }
}
