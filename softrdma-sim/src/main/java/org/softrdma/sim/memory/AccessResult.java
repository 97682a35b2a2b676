package org.softrdma.sim.memory;

/** Result of an access check. */
public enum AccessResult {
    /** Granted. */
    GRANTED,
    /** No region has this key now. */
    INVALID_STAG,
    /** The region and the queue pair belong to different protection domains. */
    WRONG_DOMAIN,
    /** The region lacks the right. */
    NO_RIGHT,
    /** Begins or ends outside the region. */
    OUT_OF_BOUNDS,
    /** Address plus length is 2^64 or more. */
    ADDRESS_WRAP
}
