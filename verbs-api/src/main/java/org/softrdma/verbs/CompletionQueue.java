package org.softrdma.verbs;

/**
 * Where completions of work requests arrive (C: {@code ibv_cq}). Thread-safe, except in manual progress, where polling
 * drives the device and belongs to its owner.
 *
 * <p>Order: per send queue and per receive queue in posting order; between queues none. A completion is published by a
 * release and taken by an acquire: what the device wrote before it is visible to the thread that polled it.
 */
public interface CompletionQueue extends AutoCloseable {
    /** Entries it can hold, at least the number asked for. */
    int entries();

    /**
     * Takes completions, oldest first (C: {@code ibv_poll_cq}). Allocates nothing and does not block.
     *
     * @param completions filled from index 0
     * @param max most to take, 0 to {@code completions.length}
     * @return how many were taken
     * @throws IllegalArgumentException if {@code max} is out of range, or an element that would be filled is null; nothing was
     *     taken then
     * @throws VerbsException {@link VerbsErrorCode#QUEUE_OVERRUN}, once everything that fitted was taken, if completions
     *     were lost because the queue was full, where the device tells; its queue pairs are in error
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
     * Arms the queue for one event on its channel (C: {@code ibv_req_notify_cq}). Completions that are already in the queue
     * need not raise one: poll again after arming. An event may come without a completion, and several completions may share
     * one. Arming for any completion and then for solicited ones stays armed for any.
     *
     * @param solicitedOnly only a RECV of a solicited SEND, or a failed completion, raises the event
     * @throws IllegalStateException if the queue has no channel
     */
    void requestNotification(boolean solicitedOnly);

    /**
     * Gives back events taken from the channel (C: {@code ibv_ack_cq_events}).
     *
     * @param count how many
     * @throws IllegalArgumentException if more are given back than were taken
     */
    void acknowledgeEvents(int count);

    /**
     * Closes the queue; completions not polled are lost. Refused with {@link VerbsErrorCode#BUSY} while a queue pair uses it
     * or an event was not acknowledged; idempotent.
     */
    @Override
    void close();
}
