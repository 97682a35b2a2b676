package org.softrdma.farm.transaction;

import org.softrdma.farm.memory.ObjectImage;

/**
 * An object that a transaction changes.
 *
 * @param address of the object
 * @param change what it does to it
 * @param version that was read
 * @param image what the object is to be
 */
public record WriteEntry(long address, Change change, long version, ObjectImage image) {
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

    /**
     * An object whose image has the version that was read.
     *
     * @param address of the object
     * @param change what it does to it
     * @param image what the object is to be
     */
    public WriteEntry(long address, Change change, ObjectImage image) {
        this(address, change, image.version(), image);
    }
}
