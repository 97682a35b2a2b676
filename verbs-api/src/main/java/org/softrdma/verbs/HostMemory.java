package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that may be registered without care for its lifetime, on any device: it is freed when it has been closed
 * <em>and</em> its last registration is gone, whichever is later. From then on its segments are dead, as those of a closed arena are.
 */
public interface HostMemory extends AutoCloseable {
    /**
     * The memory; after {@link #close()} the application must not use it any more.
     *
     * @throws IllegalStateException if it is closed
     */
    MemorySegment segment();

    /** Gives the memory back as soon as no region uses it. Idempotent. */
    @Override
    void close();
}
