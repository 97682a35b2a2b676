package org.softrdma.verbs;

import java.util.Optional;

/**
 * Where completion events arrive (C: {@code ibv_comp_channel}). Thread-safe.
 *
 * <p>To miss no completion, loop like this: call {@link CompletionQueue#requestNotification}, poll until the queue is
 * empty, and only then call {@link #await}.
 */
public interface CompletionChannel extends AutoCloseable {
    /**
     * Waits for an event (C: {@code ibv_get_cq_event}). Acknowledge every event that you take, by {@link
     * CompletionQueue#acknowledgeEvents}; its queue cannot be closed before.
     *
     * @param timeoutNs how long to wait; 0 returns at once
     * @return the queue that raised the event; empty if none came in time
     * @throws VerbsException {@link VerbsErrorCode#INTERRUPTED} if the thread is interrupted. Its interrupted flag
     *     stays set, and no event is lost
     */
    Optional<CompletionQueue> await(long timeoutNs);

    /** Closes the channel. Refused with {@link VerbsErrorCode#BUSY} while a completion queue uses it. Idempotent. */
    @Override
    void close();
}
