package org.softrdma.farm.transaction;

import org.softrdma.farm.memory.ObjectImage;

/**
 * An object that a transaction changes.
 *
 * @param address of the object
 * @param change what it does to it
 * @param image what the object is to be; its version is the one that was read
 */
public record WriteEntry(long address, Change change, ObjectImage image) {
    /** Kinds of changes. Their order is part of the protocol. */
    public enum Change {
        /** No change. */
        NONE,
        /** Other bytes. */
        WRITE,
        /** The object comes into being. */
        ALLOCATE,
        /** The object ceases to be. */
        FREE
    }
}
