package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that may be registered without care for its lifetime: it is freed when it has been closed <em>and</em> its last
 * registration is gone, whichever is later.
 */
public interface HostMemory extends AutoCloseable {
    /** The memory; after {@link #close()} the application must not use it any more. */
    MemorySegment segment();

    /** Gives the memory back as soon as no region uses it. Idempotent. */
    @Override
    void close();
}
