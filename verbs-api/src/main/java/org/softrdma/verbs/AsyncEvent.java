package org.softrdma.verbs;

/**
 * An event of a device's object that no completion reports ({@link Feature#ASYNC_EVENTS}; C: {@code ibv_async_event}).
 * Events are for monitoring, not for the data path: a program that polls its completions works without them. Each kind
 * of object has its own kind of event.
 */
public sealed interface AsyncEvent {
    /**
     * Something happened to a queue pair.
     *
     * @param queuePair open when the event was taken
     * @param kind what happened
     */
    record QueuePairEvent(QueuePair queuePair, QueuePairEvent.Kind kind) implements AsyncEvent {
        /** What can happen to a queue pair. */
        public enum Kind {
            /** It failed because of an error on this side (C: {@code IBV_EVENT_QP_FATAL}). */
            FATAL,
            /** The peer sent an invalid request, such as a misaligned atomic (C: {@code IBV_EVENT_QP_REQ_ERR}). */
            REQUEST_ERROR,
            /** The peer used a wrong key, range or access right (C: {@code IBV_EVENT_QP_ACCESS_ERR}). */
            ACCESS_ERROR,
            /**
             * It is in ERROR and will take no more RECVs from its {@link SharedReceiveQueue} (C: {@code
             * IBV_EVENT_QP_LAST_WQE_REACHED}).
             */
            LAST_REQUEST_REACHED,
            /**
             * It is in SEND_QUEUE_DRAIN, and all that was begun is complete (C: {@code IBV_EVENT_SQ_DRAINED}).
             */
            SEND_QUEUE_DRAINED
        }
    }

    /**
     * A completion queue was full and has lost completions (C: {@code IBV_EVENT_CQ_ERR}). Its queue pairs are in ERROR.
     *
     * @param completionQueue open when the event was taken
     */
    record CompletionQueueEvent(CompletionQueue completionQueue) implements AsyncEvent {}

    /**
     * Something happened to a shared receive queue.
     *
     * @param sharedReceiveQueue open when the event was taken
     * @param kind what happened
     */
    record SharedReceiveQueueEvent(SharedReceiveQueue sharedReceiveQueue, SharedReceiveQueueEvent.Kind kind)
            implements AsyncEvent {
        /** What can happen to a shared receive queue. */
        public enum Kind {
            /** Fewer RECVs are left than {@link SharedReceiveQueue#arm} says (C: {@code IBV_EVENT_SRQ_LIMIT_REACHED}). */
            LIMIT_REACHED,
            /** It failed (C: {@code IBV_EVENT_SRQ_ERR}). */
            ERROR
        }
    }

    /**
     * Something happened to the device.
     *
     * @param kind what happened
     * @param detail text for people, for example the number of the port
     */
    record DeviceEvent(DeviceEvent.Kind kind, String detail) implements AsyncEvent {
        /** What can happen to a device. */
        public enum Kind {
            /** A port can be used (C: {@code IBV_EVENT_PORT_ACTIVE}). */
            PORT_ACTIVE,
            /** A port cannot be used any more (C: {@code IBV_EVENT_PORT_ERR}). */
            PORT_DOWN,
            /** The device failed (C: {@code IBV_EVENT_DEVICE_FATAL}). */
            FATAL,
            /** Any other event of the driver: addresses, keys or subnet managers have changed. */
            OTHER
        }
    }
}
