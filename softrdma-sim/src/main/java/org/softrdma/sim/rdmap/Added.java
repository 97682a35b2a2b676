package org.softrdma.sim.rdmap;

/** Outcome of adding a segment of a request to the batch. */
enum Added {
    /** It is in the batch. */
    YES,
    /** The batch has no room for it. */
    NO_ROOM,
    /** Local memory of the request may not be used: the request fails once those before it are complete. */
    NOT_ACCESSIBLE
}
