package org.softrdma.kv.store;

import org.softrdma.kv.item.Locator;

/** Where the slab allocator gets memory: registered with an RDMA device by the server, plain native memory in tests. */
public interface ArenaSource {
    /** What {@link #address} returns for what names nothing. */
    long UNKNOWN = 0;

    /**
     * Makes an arena.
     *
     * @param length bytes, at most {@link SlabAllocator#MAX_ARENA_LENGTH}
     * @throws RuntimeException if the machine or the device cannot give it; the message says why
     */
    ItemArena create(long length);

    /**
     * The native address that a locator leads to now. Any thread.
     *
     * @param first first half of a {@link Locator}; of a peer, it may be anything
     * @return the address, in one of the arenas, or {@link #UNKNOWN}
     */
    long address(long first);
}
