package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.kv.item.Locator;

/**
 * How a server has registered its items: what its locators name, and when bytes that were READ there are the item. What keeps
 * a bad locator from being READ out of bounds, which would end the queue pair. Owned by one thread.
 */
interface Registration {
    /**
     * Takes a line of the server's answer to {@code rdma arenas}.
     *
     * @param words of the line
     * @return false if it is not in the protocol; a number may also be none, then NumberFormatException is thrown
     */
    boolean add(String[] words);

    /** True if the server needs not to be asked again for what a locator with this key means. */
    boolean knows(int rkey);

    /** True if all that a locator names can be READ, is no longer than this, and can be an item. */
    boolean covers(long first, long second, int maxLength);

    /** The address of what a locator names that is covered. */
    long address(long first);

    /**
     * Checks what a READ of all that a locator names has brought.
     *
     * @param check the checker
     * @param memory where it landed
     * @param view a direct buffer over all of {@code memory}; its position and limit are changed
     * @param item offset of it there
     * @param second second half of the {@link Locator}
     * @param key the key asked for
     * @param latestServerSeconds the latest that it can be on the server's clock
     */
    ReadOutcome check(
            ItemCheck check,
            MemorySegment memory,
            ByteBuffer view,
            int item,
            long second,
            byte[] key,
            long latestServerSeconds);
}
