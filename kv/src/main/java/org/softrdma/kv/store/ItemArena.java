package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;

/** A piece of memory for items which peers may READ under one key. Its owner is the {@link ArenaSource} that made it. */
public interface ItemArena {
    /** The memory: native, zeroed when new, 8-byte aligned, usable from any thread. */
    MemorySegment memory();

    /** The key under which peers read it. */
    int rkey();
}
