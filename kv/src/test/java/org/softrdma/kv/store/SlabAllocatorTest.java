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
import org.softrdma.kv.item.ItemDescriptor;

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
    void shouldHaveTheClassesOfMemcached() {
        int[] first = {96, 120, 152, 192, 240, 304, 384, 480, 600, 752, 944, 1184};
        for (int i = 0; i < first.length; i++) {
            assertEquals(first[i], geometry.chunkLength(i));
        }
        assertEquals(31, geometry.sizeClass(ItemDescriptor.itemLength(4, 66_560)) + 1, "that of memcached's own tests");
        assertEquals(64, new SlabGeometry(1.25, 1, MIB).chunkLength(0), "the shortest key without a value fits");
        SlabGeometry fine = new SlabGeometry(1.01, 48, MIB);
        for (int i = 1; i < fine.classes(); i++) {
            assertTrue(fine.chunkLength(i) > fine.chunkLength(i - 1));
        }
    }

    @Test
    void shouldNotTakeAPageForLargeItemsWhileSomeAreFree() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 64L * MIB);
        int sizeClass = geometry.sizeClass(66_660);
        long[] chunks = new long[10];
        for (int life = 0; life < 2; life++) {
            for (int i = 0; i < chunks.length; i++) {
                chunks[i] = slabs.allocate(sizeClass);
            }
            assertEquals(MIB, slabs.pagedBytes());
            for (long chunk : chunks) {
                slabs.free(chunk);
            }
        }
    }

    @Test
    void shouldTakeAllMemoryAtTheStartIfAsked() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 200L * MIB);
        slabs.prepare(false);
        assertEquals(1, arenas.memories().size());
        slabs.prepare(true);
        assertEquals(4, arenas.memories().size());
        Set<Long> chunks = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            assertTrue(chunks.add(slabs.allocate(geometry.classes() - 1)));
        }
        assertFalse(chunks.contains(SlabAllocator.NONE));
        assertEquals(4, arenas.memories().size());
        assertEquals(SlabAllocator.NONE, slabs.allocate(geometry.classes() - 1));
    }

    @Test
    void shouldTakeMorePagesOnceTheLimitIsHigher() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 2 * MIB);
        int largest = geometry.classes() - 1;
        slabs.allocate(largest);
        slabs.allocate(largest);
        assertEquals(SlabAllocator.NONE, slabs.allocate(largest));
        slabs.memoryLimit(3 * MIB);
        assertNotEquals(SlabAllocator.NONE, slabs.allocate(largest));
        assertEquals(SlabAllocator.NONE, slabs.allocate(largest));
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
    void shouldGoOnWithWhatThereIsWhenNoFurtherArenaIsGiven() {
        int[] asked = {0};
        ArenaSource one = new ArenaSource() {
            @Override
            public ItemArena create(long length) {
                if (asked[0]++ > 0) {
                    throw new IllegalStateException("no more");
                }
                return arenas.create(length);
            }

            @Override
            public long address(long first) {
                return arenas.address(first);
            }
        };
        SlabAllocator slabs = new SlabAllocator(geometry, one, 128L * MIB);
        int largest = geometry.classes() - 1;
        long last = SlabAllocator.NONE;
        for (int i = 0; i < 64; i++) {
            last = slabs.allocate(largest);
            assertNotEquals(SlabAllocator.NONE, last);
        }
        assertEquals(SlabAllocator.NONE, slabs.allocate(largest));
        slabs.free(last);
        assertEquals(last, slabs.allocate(largest));
        assertEquals(SlabAllocator.NONE, slabs.allocate(0));
        assertEquals(2, asked[0], "the device is not asked again and again");
        slabs.memoryLimit(256L * MIB);
        assertEquals(SlabAllocator.NONE, slabs.allocate(largest));
        assertEquals(3, asked[0]);
    }

    @Test
    void shouldTakeFurtherArenas() {
        SlabAllocator slabs = new SlabAllocator(geometry, arenas, 65L * MIB);
        int largest = geometry.classes() - 1;
        Set<Integer> rkeys = new HashSet<>();
        for (int i = 0; i < 65; i++) {
            long chunk = slabs.allocate(largest);
            rkeys.add(slabs.page(chunk).names.rkey(0));
        }
        assertEquals(2, rkeys.size());
        assertEquals(SlabAllocator.NONE, slabs.allocate(largest));
    }

    @Test
    void shouldKeepPinnedChunkUntilUnpinned() {
        SlabPage page = new SlabPage(
                0,
                1024,
                0,
                1L << 40,
                MIB / 1024,
                arenas.create(MIB).cut(0, 1024, MIB / 1024).orElseThrow());
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
