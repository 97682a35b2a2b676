package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.ItemChecksum;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;

class ItemStoreTest {
    private static final int MIB = 1 << 20;
    private static final long NOW = 1_000_000;
    private static final StoreRule SET = new StoreRule();

    private final PlainArenas arenas = new PlainArenas();
    private final SlabAllocator slabs = new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, 64L * MIB);
    private final ItemStore store = new ItemStore(slabs, 42, true);

    @AfterEach
    void free() {
        arenas.close();
    }

    @Test
    void shouldTakeNoteOfReadsOfLivingItemsOnly() {
        Locator locator = set("key", "value", 0, (int) NOW + 10);
        assertTrue(store.touched(locator.first(), locator.generation(), 1, NOW));
        assertFalse(store.touched(locator.first(), locator.generation() + 2, 1, NOW), "another life");
        assertFalse(store.touched(locator.first(), locator.generation() - 1, 1, NOW), "no life");
        assertFalse(store.touched(locator.first() ^ 1, locator.generation(), 1, NOW), "another arena");
        Locator replaced = set("key", "newer", 0, 0);
        assertFalse(store.touched(locator.first(), locator.generation(), 1, NOW));
        assertTrue(store.touched(replaced.first(), replaced.generation(), 1, NOW));
        for (long offset = 0; offset < 1L << 32; offset = offset < MIB / 8 ? offset + 1 : offset * 2) {
            long first = Integer.toUnsignedLong(locator.rkey()) | offset << Integer.SIZE;
            boolean isItem = first == replaced.first();
            assertEquals(isItem, store.touched(first, replaced.generation(), 1, NOW), "offset " + offset * 8);
        }
    }

    @Test
    void shouldFindWhatWasPublished() {
        Locator locator = set("key", "value", 7, 0);
        assertArrayEquals(bytes("value"), get("key", NOW));
        assertEquals(1, locator.generation() & 1);
        MemorySegment memory = arenas.memory(locator.rkey());
        assertEquals(locator.generation(), ItemDescriptor.generation(memory, locator.offset()));
        assertEquals(7, ItemDescriptor.flags(memory, locator.offset()));
        assertTrue(isIntact(locator));
    }

    @Test
    void shouldNotFindItemBeforeItIsPublished() {
        NewItem item = reserve("key", 5, 0, 0);
        assertEquals(null, get("key", NOW));
        store.abandon(item);
        assertEquals(null, get("key", NOW));
    }

    @Test
    void shouldKillAndForwardReplacedItem() {
        Locator old = set("key", "old", 0, 0);
        Locator fresh = set("key", "new", 0, 0);
        MemorySegment memory = arenas.memory(old.rkey());
        assertEquals(old.generation() + 1, ItemDescriptor.generation(memory, old.offset()));
        assertEquals(fresh.first(), ItemDescriptor.forwardFirst(memory, old.offset()));
        assertEquals(fresh.second(), ItemDescriptor.forwardSecond(memory, old.offset()));
        assertArrayEquals(bytes("new"), get("key", NOW));
        assertEquals(1, store.statistics().currentItems());
    }

    @Test
    void shouldKillDeletedItem() {
        Locator old = set("key", "old", 0, 0);
        assertEquals(StoreStatus.STORED, store.delete(new KeySlice(bytes("key")), 0, NOW));
        assertEquals(StoreStatus.NOT_FOUND, store.delete(new KeySlice(bytes("key")), 0, NOW));
        MemorySegment memory = arenas.memory(old.rkey());
        assertEquals(old.generation() + 1, ItemDescriptor.generation(memory, old.offset()));
        assertEquals(0, ItemDescriptor.forwardSecond(memory, old.offset()));
        assertEquals(0, store.statistics().currentBytes());
    }

    @Test
    void shouldKillExpiredItemWhenItIsFound() {
        Locator old = set("key", "old", 0, (int) NOW + 10);
        assertArrayEquals(bytes("old"), get("key", NOW + 9));
        assertEquals(null, get("key", NOW + 10));
        assertEquals(old.generation() + 1, ItemDescriptor.generation(arenas.memory(old.rkey()), old.offset()));
        assertEquals(1, store.statistics().expiredItems());
    }

    @Test
    void shouldNeverRevalidateLocatorWhenItsChunkIsReused() {
        SlabAllocator small = new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, MIB);
        ItemStore onePage = new ItemStore(small, 1, false);
        byte[] value = new byte[MIB / 2];
        byte[] key = bytes("key");
        Map<Long, Integer> lastGeneration = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            NewItem item = onePage.reserve(new KeySlice(key), 0, 0, value.length, NOW);
            assertEquals(NewItem.Status.READY, item.status());
            assertEquals(StoreStatus.STORED, onePage.store(item, SET, NOW));
            Locator locator = item.locator();
            Integer last = lastGeneration.put(locator.offset(), locator.generation());
            assertTrue(last == null || last < locator.generation());
            assertEquals(StoreStatus.STORED, onePage.delete(new KeySlice(key), 0, NOW));
            assertNotEquals(
                    locator.generation(), ItemDescriptor.generation(arenas.memory(locator.rkey()), locator.offset()));
        }
        assertEquals(1, lastGeneration.size(), "the page has one chunk of that class");
    }

    @Test
    void shouldNotReuseChunkWhilePinned() {
        SlabAllocator small = new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, MIB);
        ItemStore onePage = new ItemStore(small, 1, false);
        byte[] key = bytes("key");
        onePage.store(onePage.reserve(new KeySlice(key), 0, 0, MIB / 2, NOW), SET, NOW);
        PinnedItem pinned = onePage.pin(new KeySlice(key), NOW);
        assertTrue(pinned.isPresent());
        assertEquals(StoreStatus.STORED, onePage.delete(new KeySlice(key), 0, NOW));
        assertFalse(onePage.pin(new KeySlice(key), NOW).isPresent());
        assertEquals(
                NewItem.Status.OUT_OF_MEMORY,
                onePage.reserve(new KeySlice(key), 0, 0, MIB / 2, NOW).status());
        onePage.unpin(pinned);
        assertEquals(
                NewItem.Status.READY,
                onePage.reserve(new KeySlice(key), 0, 0, MIB / 2, NOW).status());
    }

    @Test
    void shouldSayWhenItemIsTooLarge() {
        assertEquals(NewItem.Status.TOO_LARGE, reserve("key", MIB, 0, 0).status());
        assertEquals(NewItem.Status.READY, reserve("key", MIB - 64, 0, 0).status());
        assertEquals(
                NewItem.Status.TOO_LARGE,
                reserve("key", Integer.MAX_VALUE, 0, 0).status());
    }

    @Test
    void shouldAgreeWithMapOnRandomOperations() {
        long seed = Long.getLong("softrdma.seed", 20_261_121);
        Random random = new Random(seed);
        Map<String, byte[]> model = new HashMap<>();
        Map<String, Integer> expiries = new HashMap<>();
        Map<String, Locator> locators = new HashMap<>();
        long now = NOW;
        for (int step = 0; step < 60_000; step++) {
            String message = "softrdma.seed=" + seed + " step=" + step;
            String key = "key" + random.nextInt(300);
            int expires = expiries.getOrDefault(key, 0);
            if (expires != 0 && expires <= now) {
                model.remove(key);
            }
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    byte[] value = new byte[random.nextInt(10) == 0 ? random.nextInt(20_000) : random.nextInt(200)];
                    random.nextBytes(value);
                    int expiry = random.nextInt(4) == 0 ? (int) now + random.nextInt(20) : 0;
                    NewItem item = reserve(key, value.length, step, expiry);
                    assertEquals(NewItem.Status.READY, item.status(), message);
                    MemorySegment.copy(
                            value, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length);
                    if (random.nextInt(20) == 0) {
                        store.abandon(item);
                    } else {
                        assertEquals(StoreStatus.STORED, store.store(item, SET, now), message);
                        Locator locator = item.locator();
                        assertTrue(isIntact(locator), message);
                        model.put(key, value);
                        expiries.put(key, expiry);
                        locators.put(key, locator);
                    }
                }
                case 3 -> {
                    boolean there = model.remove(key) != null;
                    StoreStatus status = store.delete(new KeySlice(bytes(key)), 0, now);
                    assertEquals(there ? StoreStatus.STORED : StoreStatus.NOT_FOUND, status, message);
                }
                case 4 -> now += random.nextInt(50) == 0 ? 1 : 0;
                default -> assertArrayEquals(model.get(key), get(key, now), message);
            }
        }
        for (Map.Entry<String, Locator> entry : locators.entrySet()) {
            String key = entry.getKey();
            Locator locator = entry.getValue();
            byte[] value = get(key, now);
            int there = ItemDescriptor.generation(arenas.memory(locator.rkey()), locator.offset());
            assertEquals(value != null, there == locator.generation(), "softrdma.seed=" + seed + " " + key);
            assertTrue(value == null || isIntact(locator));
        }
    }

    private boolean isIntact(Locator locator) {
        MemorySegment memory = arenas.memory(locator.rkey());
        int item = (int) locator.offset();
        long checksum = new ItemChecksum(0)
                .compute(
                        memory.asByteBuffer(),
                        item,
                        ItemDescriptor.keyLength(memory, item),
                        ItemDescriptor.valueLength(memory, item));
        return checksum == ItemDescriptor.checksum(memory, item)
                && ItemDescriptor.sequence(memory, item) == ItemDescriptor.tail(memory, item, locator.length());
    }

    private NewItem reserve(String key, int valueLength, int flags, int expiry) {
        return store.reserve(new KeySlice(bytes(key)), flags, expiry, valueLength, NOW);
    }

    private Locator set(String key, String value, int flags, int expiry) {
        NewItem item = reserve(key, value.length(), flags, expiry);
        MemorySegment.copy(bytes(value), 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length());
        assertEquals(StoreStatus.STORED, store.store(item, SET, NOW));
        return item.locator();
    }

    private byte @Nullable [] get(String key, long now) {
        byte[][] found = new byte[1][];
        store.get(
                new KeySlice(bytes(key)),
                now,
                true,
                item -> found[0] = item.memory()
                        .asSlice(item.valueOffset(), item.valueLength())
                        .toArray(ValueLayout.JAVA_BYTE));
        return found[0];
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
