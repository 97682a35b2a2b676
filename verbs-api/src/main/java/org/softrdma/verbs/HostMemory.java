package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that you can register on any device without managing its lifetime. It is freed once you have
 * closed it <em>and</em> its last registration is gone. From then on its segments are inaccessible, like those of a
 * closed arena.
 */
public interface HostMemory extends AutoCloseable {
    /**
     * The memory. Do not use it after {@link #close()}.
     *
     * @throws IllegalStateException if it is closed
     */
    MemorySegment segment();

    /** Frees the memory as soon as no region uses it. Idempotent. */
    @Override
    void close();
}
