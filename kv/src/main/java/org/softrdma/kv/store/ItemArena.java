package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A piece of memory for items which peers may READ. Its owner is the {@link ArenaSource} that made it. */
public interface ItemArena {
    /** The memory: native, zeroed when new, 8-byte aligned, usable from any thread. */
    MemorySegment memory();

    /**
     * Names the chunks of a page for peers, before anything uses them. Called when a page gets a class, the first or
     * another, by one thread at a time.
     *
     * @param offset where the page starts in this arena
     * @param chunkLength bytes of a chunk, the same for all pages of a class
     * @param chunks their number
     * @return the names, or nothing if the device has none left: then this memory stays unused
     */
    Optional<RemotePage> cut(long offset, int chunkLength, int chunks);
}
