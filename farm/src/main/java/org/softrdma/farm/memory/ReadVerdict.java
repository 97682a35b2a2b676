package org.softrdma.farm.memory;

/** The result of a lock-free read. */
public enum ReadVerdict {
    /** The object as it was at one instant during the READ. */
    CONSISTENT,
    /** It was being written. */
    LOCKED,
    /** Its lines are of different versions. */
    LINES_DIFFER,
    /** Its lines agree, and yet its bytes are of different versions: the checksum says so, and nothing else does. */
    TORN_UNSEEN
}
