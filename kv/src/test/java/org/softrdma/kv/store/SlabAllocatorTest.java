package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SlabAllocatorTest {
    private static final int MIB = 1 << 20;

    private final PlainArenas arenas = new PlainArenas();
    private final SlabGeometry geometry = new SlabGeometry(1.25, 48, MIB);

    @AfterEach
    void free() {
        arenas.close();
    }

    @Test
    void shouldGrowChunksByFactorUpToTheLongestItem() {
        assertEquals(112, geometry.chunkLength(0));
        assertEquals(MIB, geometry.chunkLength(geometry.classes() - 1));
        assertEquals(MIB, geometry.pageLength());
        for (int i = 0; i < geometry.classes(); i++) {
            assertEquals(0, geometry.chunkLength(i) % 8);
            assertEquals(i, geometry.sizeClass(geometry.chunkLength(i)));
            assertTrue(i == 0 || geometry.sizeClass(geometry.chunkLength(i - 1) + 8L) == i);
        }
        assertThrows(IllegalArgumentException.class, () -> geometry.sizeClass(MIB + 8L));
    }

    @Test
    void shouldHandOutEveryChunkOnceUntilTheLimit() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 2 * MIB);
        int sizeClass = geometry.sizeClass(1000);
        Set<Long> chunks = new HashSet<>();
        for (long chunk = slabs.allocate(sizeClass); chunk != SlabAllocator.NONE; chunk = slabs.allocate(sizeClass)) {
            assertTrue(chunks.add(chunk));
            assertEquals(0, SlabAllocator.offset(chunk) % 8);
        }
        assertEquals(2 * (MIB / geometry.chunkLength(sizeClass)), chunks.size());
        assertEquals(2 * MIB, slabs.pagedBytes());
        long freed = chunks.iterator().next();
        slabs.free(freed);
        assertEquals(freed, slabs.allocate(sizeClass));
    }

    @Test
    void shouldNotReuseChunkWhileThereIsFreshMemory() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 2 * MIB);
        long first = slabs.allocate(0);
        slabs.free(first);
        assertNotEquals(first, slabs.allocate(0));
    }

    @Test
    void shouldTakeFurtherArenas() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 65L * MIB);
        int largest = geometry.classes() - 1;
        Set<Integer> rkeys = new HashSet<>();
        for (int i = 0; i < 65; i++) {
            rkeys.add(slabs.arena(slabs.allocate(largest)).rkey());
        }
        assertEquals(2, rkeys.size());
        assertEquals(SlabAllocator.NONE, slabs.allocate(largest));
    }

    @Test
    void shouldKeepPinnedChunkUntilUnpinned() {
        SlabPage page = new SlabPage(0, 1024, MIB, 0, 1L << 40);
        page.link(3, 0);
        assertTrue(page.pin(3));
        assertTrue(page.pin(3));
        assertFalse(page.unlink(3));
        assertFalse(page.unpin(3));
        assertTrue(page.unpin(3));
        assertThrows(IllegalStateException.class, () -> page.unpin(3));
        page.link(4, 0);
        assertTrue(page.pin(4));
        assertFalse(page.unpin(4));
        assertTrue(page.unlink(4));
    }
}
