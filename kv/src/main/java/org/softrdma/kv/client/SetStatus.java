package org.softrdma.kv.client;

/** The result of a set, add, replace, append, prepend or cas. */
public enum SetStatus {
    /** The value is stored. */
    STORED,
    /** An add of a key that has a value, or a replace, append or prepend of one that has none; nothing was changed. */
    NOT_STORED,
    /** A cas of a value that was changed meanwhile; nothing was changed. */
    EXISTS,
    /** A cas of a key that has no value. */
    NOT_FOUND,
    /** The server has no memory for it; after a set an older value of the key is gone. */
    OUT_OF_MEMORY,
    /** The value is larger than the server takes; after a set an older value of the key is gone. */
    TOO_LARGE
}
