package org.softrdma.stores;

/** What a client can conclude from the order of operations on one key. */
public enum Consistency {
    /** Each operation takes effect at one instant between its start and its end. */
    LINEARIZABLE,
    /** So do changes, and a value that is found is one that the key had meanwhile; but a key may seem absent. */
    FALSE_MISSES,
    /**
     * Less: a change may take effect more than once, an answer be taken for that to another operation, or a key that was
     * removed live on.
     */
    NONE
}
