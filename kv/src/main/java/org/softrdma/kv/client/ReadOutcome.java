package org.softrdma.kv.client;

/**
 * What a READ of an item brought. After anything but {@link #HIT} the server is asked over the memcached connection.
 */
public enum ReadOutcome {
    /** The item, whole and current. */
    HIT,
    /** The item of the locator is dead, and nothing leads to a newer one. */
    STALE,
    /** It was replaced, and the forward locator says by what. Followed once; seen by callers of a single check only. */
    FORWARDED,
    /** The bytes do not belong together: the chunk was being reused. */
    TORN,
    /** A whole item, but of another key. */
    KEY_MISMATCH,
    /** It has expired, or may have, as far as the server's clock is known. */
    EXPIRED,
    /** The queue pair ended before the READ was done; there is nothing to look at. */
    LOST
}
