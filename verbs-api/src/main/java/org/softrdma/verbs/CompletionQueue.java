package org.softrdma.verbs;

/**
 * Where completions of work requests arrive (C: {@code ibv_cq}). Thread-safe, except in manual progress: there polling
 * drives the device, and only its owner may poll.
 *
 * <p>Completions of one send queue, or of one receive queue, arrive in posting order; those of different queues arrive
 * in any order. What the device wrote before a completion is visible to the thread that polls it: the completion is
 * published by a release and taken by an acquire.
 */
public interface CompletionQueue extends AutoCloseable {
    /** How many completions it can hold, at least the number asked for. */
    int entries();

    /**
     * Resizes the queue to hold at least this many completions (C: {@code ibv_resize_cq}). Completions in the queue
     * stay, in order. Any thread may call it, while others poll. Needs {@link Feature#QUEUE_RESIZE}.
     *
     * @param minimumEntries 1 to {@link Capabilities#maxCompletionQueueEntries()}
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link VerbsErrorCode#INVALID} if
     *     more completions are in the queue now; {@link VerbsErrorCode#NO_RESOURCES}. The queue is then unchanged
     */
    default void resize(int minimumEntries) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "resize: this device has no " + Feature.QUEUE_RESIZE + "; create a larger one");
    }

    /**
     * Takes completions, oldest first (C: {@code ibv_poll_cq}). Allocates nothing and does not block.
     *
     * @param completions filled from index 0
     * @param max maximum number to take, 0 to {@code completions.length}
     * @return how many were taken
     * @throws IllegalArgumentException if {@code max} is out of range, or an element that would be filled is null;
     *     then nothing was taken
     * @throws VerbsException {@link VerbsErrorCode#QUEUE_OVERRUN} if the queue was full and completions were lost, if
     *     the device reports that. Earlier polls return everything that was in the queue. Its queue pairs are in ERROR
     */
    int poll(WorkCompletion[] completions, int max);

    /**
     * Takes completions, oldest first.
     *
     * @param completions filled from index 0
     * @return how many were taken
     */
    default int poll(WorkCompletion[] completions) {
        return poll(completions, completions.length);
    }

    /**
     * Arms the queue for one event on its channel (C: {@code ibv_req_notify_cq}). Completions that are already in the
     * queue may not raise it, so poll again after arming. An event may arrive without a completion, and several
     * completions may share one event. A queue that is armed for any completion stays so if you arm it for solicited
     * ones.
     *
     * @param solicitedOnly true if only the RECV of a solicited SEND, or a failed completion, raises the event
     * @throws IllegalStateException if the queue has no channel
     */
    void requestNotification(boolean solicitedOnly);

    /**
     * Acknowledges events that were taken from the channel (C: {@code ibv_ack_cq_events}).
     *
     * @param count how many
     * @throws IllegalArgumentException if fewer were taken
     */
    void acknowledgeEvents(int count);

    /**
     * Closes the queue. Completions that were not polled are lost. Refused with {@link VerbsErrorCode#BUSY} while a
     * queue pair uses it or an event was not acknowledged. Idempotent.
     */
    @Override
    void close();
}
