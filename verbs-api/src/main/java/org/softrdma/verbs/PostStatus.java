package org.softrdma.verbs;

/** The result of posting. A full queue is normal and not an exception. */
public enum PostStatus {
    /** Accepted: the request will complete, with success or an error. */
    ACCEPTED,
    /**
     * The queue is full (C: {@code ENOMEM}); poll and post again. A slot of a send queue is free again when its completion or
     * that of a later request on it has been polled, a slot of a receive queue when its completion has.
     */
    QUEUE_FULL
}
