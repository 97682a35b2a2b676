package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;

/** Looks at an item that was found. */
@FunctionalInterface
public interface ItemVisitor {
    /**
     * Called at most once, with the lock of the item's key held: take what is needed and return.
     *
     * @param memory the arena
     * @param item offset of the item in it, see {@link ItemDescriptor}
     */
    void visit(MemorySegment memory, long item);
}
