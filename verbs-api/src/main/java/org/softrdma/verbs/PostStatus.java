package org.softrdma.verbs;

/** The result of posting. A full queue is normal, so it is a result and not an exception. */
public enum PostStatus {
    /** The request was accepted and will complete, with success or an error. */
    ACCEPTED,
    /**
     * The queue is full (C: {@code ENOMEM}): poll, and post again. Polling a completion frees the slot of its request
     * and, on a send queue, the slots of all requests before it.
     */
    QUEUE_FULL
}
