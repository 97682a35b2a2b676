package org.softrdma.verbs;

/** Why a verbs call failed, with the C name to search for. */
public enum VerbsErrorCode {
    /** The object has live children, or events of it were not acknowledged (C: {@code EBUSY}). */
    BUSY,
    /** A limit of the device or the machine is reached (C: {@code ENOMEM}). */
    NO_RESOURCES,
    /** The device cannot do this (C: {@code EOPNOTSUPP}). */
    NOT_SUPPORTED,
    /** A range is not inside its region (C: {@code EFAULT}). */
    BAD_RANGE,
    /** The call does not apply to this object (C: {@code EINVAL}). */
    INVALID,
    /** No live region has this key (C: {@code ENOENT}). */
    NOT_FOUND,
    /** The domain or the rights of a region do not allow it (C: {@code EPERM}). */
    NOT_PERMITTED,
    /** There is no usable device (C: {@code ENODEV}). */
    NO_DEVICE,
    /** The local address is in use (C: {@code EADDRINUSE}). */
    ADDRESS_IN_USE,
    /** The local address does not exist here, or may not be used (C: {@code EADDRNOTAVAIL}, {@code EACCES}). */
    ADDRESS_NOT_AVAILABLE,
    /** Nobody listens there, or there is no route (C: {@code RDMA_CM_EVENT_UNREACHABLE}, {@code ECONNREFUSED}). */
    UNREACHABLE,
    /** The peer rejected the request (C: {@code RDMA_CM_EVENT_REJECTED}). */
    REJECTED,
    /** The peer speaks another protocol, or wants an option that is not supported here (C: {@code EPROTO}). */
    PROTOCOL,
    /** The connection ended before it was established (C: {@code ECONNRESET}). */
    CONNECTION_LOST,
    /** It took longer than the caller allowed (C: {@code ETIMEDOUT}). */
    TIMED_OUT,
    /** The thread was interrupted (C: {@code EINTR}). */
    INTERRUPTED,
    /** A completion queue was full and lost completions (C: {@code IBV_EVENT_CQ_ERR}). */
    QUEUE_OVERRUN,
    /** Anything else: see the message. */
    OTHER
}
