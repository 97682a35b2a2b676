package org.softrdma.kv.store;

/** What became of a change. */
public enum StoreStatus {
    /** It was made. */
    STORED,
    /** The condition of add, replace, append or prepend does not hold. */
    NOT_STORED,
    /** The item was changed since its cas number was read. */
    EXISTS,
    /** There is no item to compare with or to change. */
    NOT_FOUND,
    /** incr or decr of a value that is not a number. */
    NON_NUMERIC,
    /** The item would be longer than the longest item. */
    TOO_LARGE,
    /** The memory limit is reached, and nothing may or can be evicted. */
    OUT_OF_MEMORY,
    /** Others kept changing the item while it was to be rewritten, or too many hold its bytes: nothing was done. */
    BUSY
}
