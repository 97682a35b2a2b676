package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;

/**
 * Makes a new value from that of an item. Items never change, so the new value is written into a new item, which then
 * replaces the old one if that still is the item of its key; otherwise all begins again with the one that is.
 */
public interface ItemRewriter {
    /** What becomes of the marks of an item: that it was found, is stale, and that a client was told to recache it. */
    enum Marks {
        /** The new item is fresh, as after append and prepend of memcached. */
        NONE,
        /** It has those of the old item, which memcached changes in place. */
        KEPT,
        /** As KEPT, but it is stale, and nobody was told to recache it yet. */
        STALE
    }

    /** What {@link #measure} returns to change nothing: the item is not what the request takes it for. */
    int REFUSED = -1;

    /**
     * Looks at the present item, with the lock of its key held.
     *
     * @param old the item; not to be kept
     * @return bytes of the new value, or {@link #REFUSED}
     */
    int measure(StoredItem old);

    /**
     * Writes the new value. No lock is held, but the old value stays where it is.
     *
     * @param old arena of the old item
     * @param oldOffset where its value starts
     * @param oldLength bytes of its value
     * @param target arena of the new item
     * @param offset where its value starts
     */
    void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset);

    /** Which marks the new item has. */
    default Marks marks() {
        return Marks.NONE;
    }

    /** False if an empty value is refused before its cas number is compared. */
    default boolean takesEmpty() {
        return true;
    }
}
