package org.softrdma.fabric.network;

import java.lang.foreign.MemorySegment;

/** How bytes get from memory to the network and back. */
public interface Copier {
    /** Copies between ranges that do not overlap; others may run in between and see a part. */
    void copy(long source, long target, long length);

    /** A zeroed buffer of the network's own. */
    MemorySegment allocate(long length);
}
