package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;

/**
 * An item whose bytes stay where they are.
 *
 * @param chunk its chunk
 * @param hash hash of its key
 * @param arena where it lies
 * @param locator its offset, length and generation
 */
public record PinnedItem(long chunk, long hash, ItemArena arena, Locator locator) {
    /** There is no such item. */
    public static final PinnedItem NONE =
            new PinnedItem(SlabAllocator.NONE, 0, new NoArena(), new Locator(0, 0, 0, 0, 0));

    /** True if there is an item. */
    public boolean isPresent() {
        return chunk != SlabAllocator.NONE;
    }

    private static final class NoArena implements ItemArena {
        @Override
        public MemorySegment memory() {
            return MemorySegment.NULL;
        }

        @Override
        public int rkey() {
            return 0;
        }
    }
}
