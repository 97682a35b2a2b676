package org.softrdma.kv.store;

/** When an item is stored, and as what. */
public enum StoreMode {
    /** In any case. */
    SET,
    /** Only if there is no item with the key. */
    ADD,
    /** Only if there is one. */
    REPLACE,
    /** Only if there is one with a given cas number. */
    CAS,
    /** Behind the value of the item that is there. */
    APPEND,
    /** Before the value of the item that is there. */
    PREPEND
}
