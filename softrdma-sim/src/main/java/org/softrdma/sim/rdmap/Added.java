package org.softrdma.sim.rdmap;

/** What became of the attempt to add a segment of a request to the batch. */
enum Added {
    /** It is in the batch. */
    YES,
    /** The batch has no room for it. */
    NO_ROOM,
    /** Local memory of the request may not be used: it fails once those before it are through. */
    NOT_ACCESSIBLE
}
