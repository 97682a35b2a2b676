package org.softrdma.stores.pilaf;

/** Where in a change of the table a peer may look. Immutable. */
enum PilafStep {
    /** The extent of the pair is whole; no entry names it yet. */
    EXTENT_WRITTEN,
    /** A word of an entry is written. */
    WORD_WRITTEN,
    /** An entry is whole. */
    ENTRY_WRITTEN,
    /** A resident is in two entries. */
    MOVED,
    /** The old extent may be used again. */
    FREED
}
