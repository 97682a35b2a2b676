package org.softrdma.sim.memory;

/** What the check of an access found. */
public enum AccessResult {
    /** Granted. */
    GRANTED,
    /** No region has this key (now). */
    INVALID_STAG,
    /** The region belongs to another protection domain than the queue pair. */
    WRONG_DOMAIN,
    /** The region lacks the right. */
    NO_RIGHT,
    /** Begins or ends outside the region. */
    OUT_OF_BOUNDS,
    /** Address plus length is 2^64 or more. */
    ADDRESS_WRAP
}
