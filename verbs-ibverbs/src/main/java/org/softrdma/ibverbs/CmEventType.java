package org.softrdma.ibverbs;

/** {@code enum rdma_cm_event_type}, in its order; rdma_get_cm_event(3). */
public enum CmEventType {
    /** The address is known. */
    ADDR_RESOLVED,
    /** The address cannot be resolved. */
    ADDR_ERROR,
    /** The route is known. */
    ROUTE_RESOLVED,
    /** There is no route. */
    ROUTE_ERROR,
    /** A peer wants to connect. */
    CONNECT_REQUEST,
    /** The peer has accepted, and there is no queue pair. */
    CONNECT_RESPONSE,
    /** The connection could not be established. */
    CONNECT_ERROR,
    /** The peer does not answer. */
    UNREACHABLE,
    /** The peer, or its kernel, has rejected. */
    REJECTED,
    /** The connection is established. */
    ESTABLISHED,
    /** The connection has ended. */
    DISCONNECTED,
    /** The device was removed. */
    DEVICE_REMOVAL,
    /** A multicast group was joined. */
    MULTICAST_JOIN,
    /** A multicast group was not joined. */
    MULTICAST_ERROR,
    /** The network device has another address. */
    ADDR_CHANGE,
    /** The queue pair's number is free again. */
    TIMEWAIT_EXIT;

    private static final CmEventType[] BY_CODE = values();

    /**
     * The event of a C value.
     *
     * @param code a value of the C enumeration
     * @throws IllegalArgumentException if there is none
     */
    public static CmEventType ofCode(int code) {
        if (code < 0 || code >= BY_CODE.length) {
            throw new IllegalArgumentException(
                    "rdma_cm_event_type " + code + ": expected 0 to " + (BY_CODE.length - 1));
        }
        return BY_CODE[code];
    }

    /** The C name. */
    @Override
    public String toString() {
        return "RDMA_CM_EVENT_" + name();
    }
}
