package org.softrdma.kv.turns;

/** Where in a change of the store, or of an item that peers may READ meanwhile, another thread may run. Immutable. */
public enum StepPoint {
    /** A chunk is being filled: its sequence is odd. */
    FILL_BEGUN,
    /** The checksums of the chunk's last life are spoilt. */
    CHECKSUM_SPOILT,
    /** Half of the forward locator of the chunk's last life is gone. */
    FORWARD_CLEARED,
    /** The numbers of the header are written. */
    HEADER_WRITTEN,
    /** The key is written. */
    KEY_WRITTEN,
    /** The cas number is written. */
    CAS_WRITTEN,
    /** The tail is written. */
    TAIL_WRITTEN,
    /** One of the checksums is written. */
    CHECKSUM_WRITTEN,
    /** The item is whole, and does not live. */
    SEALED,
    /** The item lives. */
    PUBLISHED,
    /** The item has died. */
    KILLED,
    /** The chunks of the old and the new item have exchanged their names. */
    NAMES_EXCHANGED,
    /** The index names the item, or no longer does. */
    INDEXED,
    /** Half of the forward locator is written. */
    FORWARDED,
    /** The expiry is changed in place. */
    EXPIRY_CHANGED,
    /** The checksums of a dead item are wiped. */
    CHECKSUM_WIPED,
    /** The chunk is about to be free. */
    FREED,
    /** An item has been copied, and nobody knows the copy. */
    COPIED
}
