package org.softrdma.kv.client.place;

/**
 * How a server has registered its items, and so what its locators name. It keeps a bad locator from being READ out of
 * bounds, which would end the queue pair. Owned by one thread.
 */
public interface Registration {
    /** In place of an address. */
    long NOT_COVERED = -1;

    /**
     * Takes a line of the server's answer to {@code rdma arenas}.
     *
     * @param words of the line
     * @return false if it is not in the protocol; a number may also be none, then NumberFormatException is thrown
     */
    boolean add(String[] words);

    /** True if the server need not be asked again what a locator with this key means. */
    boolean knows(int rkey);

    /**
     * The address of what a locator names; {@link #NOT_COVERED} unless all of it can be READ, is no longer than this, and
     * can be an item.
     */
    long address(long first, long second, int maxLength);

    /**
     * What a READ of all that a locator names brings: true for a whole chunk, in which whatever lives may be the
     * item; false for just the item.
     */
    boolean namesChunks();
}
