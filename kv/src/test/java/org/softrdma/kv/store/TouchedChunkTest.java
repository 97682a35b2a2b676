package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;

/** A client names a chunk that is being filled at this moment. */
class TouchedChunkTest {
    private static final int MIB = 1 << 20;
    private static final int SMALL_CHUNK = 96;
    private static final int MOST_LOOKS = 100;

    private final PlainArenas arenas = new PlainArenas();
    private final SlabAllocator slabs = new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, 64L * MIB);
    private final ItemStore store = new ItemStore(slabs, 1, false);

    @AfterEach
    void free() {
        arenas.close();
    }

    @Test
    void shouldStayInTheArenaWhileTheLastChunkIsFilled() throws InterruptedException {
        // All pages of the only arena, the last one with the smallest chunks: behind the last chunk there is nothing.
        byte[] key = {'k'};
        NewItem item = store.reserve(new KeySlice(key), 0, 0, 600_000, 0);
        for (int page = 1; page < 63; page++) {
            item = store.reserve(new KeySlice(key), 0, 0, 600_000, 0);
        }
        assertEquals(NewItem.Status.READY, item.status());
        assertEquals(
                NewItem.Status.READY,
                store.reserve(new KeySlice(key), 0, 0, 1, 0).status());
        long last = 63L * MIB + (MIB / SMALL_CHUNK - 1) * (long) SMALL_CHUNK;
        Locator locator = new Locator(0x1000, last, 64, 0, 1);
        assertNotEquals(SlabAllocator.NONE, slabs.chunkAt(locator.first()));
        MemorySegment memory = arenas.memory(0x1000);
        assertEquals(64L * MIB, memory.byteSize());
        AtomicLong flips = new AtomicLong();
        AtomicBoolean done = new AtomicBoolean();
        Thread filling = Thread.ofPlatform().start(() -> {
            long keyLength = last + ItemDescriptor.KEY_LENGTH_OFFSET;
            for (byte length = 1; !done.get(); length = (byte) -length) { // 1 or 255
                memory.set(ValueLayout.JAVA_BYTE, keyLength, length);
                flips.incrementAndGet();
            }
        });
        try {
            for (int i = 0; i < 100_000; i++) {
                long before = flips.get();
                for (int looks = 0; flips.get() == before && looks < MOST_LOOKS; looks++) {
                    Thread.onSpinWait(); // the other thread runs at this moment, unless there is one core
                }
                assertFalse(store.touched(locator.first(), 1, 1, 0));
            }
        } finally {
            done.set(true);
            filling.join();
        }
    }
}
