package org.softrdma.verbs;

/**
 * Something happened to a shared receive queue.
 *
 * @param sharedReceiveQueue open when the event was taken
 * @param kind what happened
 */
public record SharedReceiveQueueEvent(SharedReceiveQueue sharedReceiveQueue, Kind kind) implements AsyncEvent {
    /** What can happen to a shared receive queue. */
    public enum Kind {
        /** Fewer RECVs are left than {@link SharedReceiveQueue#arm} asked for (C: {@code IBV_EVENT_SRQ_LIMIT_REACHED}). */
        LIMIT_REACHED,
        /** It failed (C: {@code IBV_EVENT_SRQ_ERR}). */
        ERROR
    }
}
