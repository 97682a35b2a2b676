package org.softrdma.farm.table;

import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.farm.memory.ObjectImage;

/**
 * The objects that a shard consists of, by their addresses, and room for more: of one server, or what a transaction may
 * change. One thread.
 */
public interface TableObjects {
    /** No room. */
    long FULL = FarmSlabs.FULL;

    /**
     * Takes an image of an object that has not been changed since the last commit.
     *
     * @param address of the object
     * @param length of header and payload
     * @param image gets it
     */
    void load(long address, int length, ObjectImage image);

    /**
     * A word of an object that has not been changed since the last commit.
     *
     * @param address of the object
     * @param length of header and payload
     * @param offset of the word in the object
     */
    long word(long address, int length, int offset);

    /**
     * An object as it will be: as it is now, until the caller changes it. The same image each time until the commit.
     *
     * @param address of the object
     * @param length of header and payload
     */
    ObjectImage change(long address, int length);

    /** True if an object changes with the next commit. */
    boolean changes(long address);

    /**
     * Reserves room for an object.
     *
     * @param length of header and payload
     * @return its address, or {@link #FULL}
     */
    long allocate(int length);

    /**
     * Gives the room of an object back.
     *
     * @param address of the object; its incarnation has gone up, and nothing points to it any more
     * @param length of header and payload
     */
    void free(long address, int length);

    /** All that was changed takes effect together: now, or later with what follows. */
    void commit();
}
