package org.softrdma.kv.client;

/** What became of a set. */
public enum SetStatus {
    /** The value is stored. */
    STORED,
    /** The server has no memory for it; an older value of the key is gone. */
    OUT_OF_MEMORY,
    /** The value is larger than the server takes; an older value of the key is gone. */
    TOO_LARGE
}
