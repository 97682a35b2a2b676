package org.softrdma.kv.client;

/**
 * The outcome of a READ of an item. After anything but {@link #HIT} the client asks the server over the memcached
 * connection.
 */
public enum ReadOutcome {
    /** The item, whole and current. */
    HIT,
    /** The item of the locator is dead, and there is no forward locator. */
    STALE,
    /**
     * It was replaced, and has a forward locator to the new item. Followed once; only callers of a single check see
     * this.
     */
    FORWARDED,
    /** The bytes do not belong together: the chunk was being reused. */
    TORN,
    /** A complete item, but with another key. */
    KEY_MISMATCH,
    /** It has expired, or may have, by what the client knows of the server's clock. */
    EXPIRED,
    /** The queue pair ended before the READ was done; there is nothing to look at. */
    LOST
}
