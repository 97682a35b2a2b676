package org.softrdma.verbs;

/**
 * Something happened to a queue pair.
 *
 * @param queuePair open when the event was taken
 * @param kind what happened
 */
public record QueuePairEvent(QueuePair queuePair, Kind kind) implements AsyncEvent {
    /** What can happen to a queue pair. */
    public enum Kind {
        /** It failed for a reason of this side (C: {@code IBV_EVENT_QP_FATAL}). */
        FATAL,
        /** The peer asked for what cannot be done, a misaligned atomic for one (C: {@code IBV_EVENT_QP_REQ_ERR}). */
        REQUEST_ERROR,
        /** The peer used a wrong key, left the range or lacked the right (C: {@code IBV_EVENT_QP_ACCESS_ERR}). */
        ACCESS_ERROR,
        /**
         * It is in ERROR and will take no more RECVs from its {@link SharedReceiveQueue} (C: {@code
         * IBV_EVENT_QP_LAST_WQE_REACHED}).
         */
        LAST_REQUEST_REACHED
    }
}
