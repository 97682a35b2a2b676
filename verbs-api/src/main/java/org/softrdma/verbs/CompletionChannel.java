package org.softrdma.verbs;

import java.util.Optional;

/**
 * Where completion events arrive (C: {@code ibv_comp_channel}). Thread-safe.
 *
 * <p>The loop that never misses a completion: {@link CompletionQueue#requestNotification}, then poll until empty, and only
 * then {@link #await}.
 */
public interface CompletionChannel extends AutoCloseable {
    /**
     * Waits for an event (C: {@code ibv_get_cq_event}). Every event taken must be given back by {@link
     * CompletionQueue#acknowledgeEvents} before its queue can be closed.
     *
     * @param timeoutNs how long to wait; 0 only looks
     * @return the queue whose event this is; empty at the end of the time
     * @throws VerbsException {@link VerbsErrorCode#INTERRUPTED} if the thread is interrupted (the flag stays set); no event
     *     is lost
     */
    Optional<CompletionQueue> await(long timeoutNs);

    /** Closes the channel. Refused with {@link VerbsErrorCode#BUSY} while a completion queue uses it; idempotent. */
    @Override
    void close();
}
