package org.softrdma.kv.store;

import org.softrdma.kv.item.Locator;

/**
 * How peers name the chunks of a page, which are counted from 0. A name is an rkey and an offset, and it stands for
 * as many bytes as a chunk of the page's class has, for ever: what a peer once learned never leads it out of bounds,
 * even when the page has become one of another class.
 *
 * <p>Where names are places they never change. Where a chunk has a key of its own, {@link #exchange} moves it to
 * another chunk of the class, so that a key of the store keeps its name while its items are replaced.
 *
 * <p>A chunk's name is read and exchanged by whoever owns the chunk: by the holder of the lock of its key, or by the
 * one that has taken it from the allocator.
 */
public interface RemotePage {
    /**
     * The rkey under which peers read a chunk now.
     *
     * @param chunk its index in the page
     */
    int rkey(int chunk);

    /**
     * Where the chunk starts in what the rkey names, in bytes, as {@link Locator} has it.
     *
     * @param chunk its index in the page
     */
    long offset(int chunk);

    /**
     * Bytes that peers READ for an item: its own where its name goes with it, those of its chunk where the next item
     * gets the name, whose length nobody can know beforehand.
     *
     * @param itemLength bytes of the item
     */
    int readLength(int itemLength);

    /**
     * Lets two chunks of one class change names, atomically for every READ, if names can move; otherwise does nothing.
     *
     * @param chunk index of a chunk in this page
     * @param other its or another page, of the same {@link ArenaSource}
     * @param otherChunk index of a chunk in the other page
     */
    void exchange(int chunk, RemotePage other, int otherChunk);

    /** False if the device has no room for {@link #retire}, which is said before anything is moved out of the page. */
    boolean mayRetire();

    /**
     * The page is empty and becomes one of another class, with other names. Who READs by one of these from now on finds
     * no living item that is not his: where names are places, that is what generations are for; otherwise the names
     * are those of a chunk in which nothing ever lives.
     *
     * @return false, and nothing is done, if the device has no room for that: the page stays with its class
     */
    boolean retire();
}
