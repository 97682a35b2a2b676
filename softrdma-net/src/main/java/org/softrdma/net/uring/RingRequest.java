package org.softrdma.net.uring;

/** Kinds of requests; user data names one, with slot and generation of a port. */
enum RingRequest {
    /** The multishot receive of a port. */
    RECEIVE,
    /** The poll for input of a port. */
    POLL,
    /** The poll for room to send of a port. */
    ROOM,
    /** The send of a port. */
    SEND,
    /** Ends another request; its outcome does not matter, because that request has one too. */
    CANCEL,
    /** The poll of the loop's eventfd. */
    WAKE
}
