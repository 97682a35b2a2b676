package org.softrdma.stores;

/** How an operation of a {@link StoreClient} ended. */
public enum Outcome {
    /** GET: the value was found. */
    FOUND,
    /** GET, REMOVE: there is no such key, as far as the design can tell ({@link Promises#provesMiss}). */
    MISSING,
    /** PUT: stored. */
    STORED,
    /** REMOVE: the pair existed, and was removed. */
    REMOVED,
    /** PUT: refused for lack of memory; an existing value is unchanged. */
    FULL,
    /** It met too many conflicts and had no effect: try again. */
    GAVE_UP,
    /** No answer came in time, or none can come any more. A GET had no effect; a change may take effect, even later. */
    LOST
}
