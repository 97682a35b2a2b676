package org.softrdma.kv.store;

/** Where the slab allocator gets memory: registered with an RDMA device by the server, plain native memory in tests. */
@FunctionalInterface
public interface ArenaSource {
    /**
     * Makes an arena.
     *
     * @param length bytes, at most {@link SlabAllocator#MAX_ARENA_LENGTH}
     * @throws RuntimeException if the machine or the device cannot give it; the message says why
     */
    ItemArena create(long length);
}
