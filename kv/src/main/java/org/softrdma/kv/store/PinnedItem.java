package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.softrdma.kv.item.Locator;

/**
 * An item whose bytes stay where they are.
 *
 * @param hash hash of its key
 * @param arena where it lies
 * @param length its bytes
 * @param locator what peers need to READ it
 */
public record PinnedItem(long chunk, long hash, ItemArena arena, int length, Locator locator) {
    /** There is no such item. */
    public static final PinnedItem NONE =
            new PinnedItem(SlabAllocator.NONE, 0, new NoArena(), 0, new Locator(0, 0, 0, 0, 0));

    /** True if there is an item. */
    public boolean isPresent() {
        return chunk != SlabAllocator.NONE;
    }

    /** Where it starts in its arena. */
    public long offset() {
        return SlabAllocator.offset(chunk);
    }

    private static final class NoArena implements ItemArena {
        @Override
        public MemorySegment memory() {
            return MemorySegment.NULL;
        }

        @Override
        public Optional<RemotePage> cut(long offset, int chunkLength, int chunks) {
            return Optional.empty();
        }
    }
}
