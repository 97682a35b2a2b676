package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.KeySlice;

/** Items whose values come in pieces, or not at all. */
class UnfinishedItemsTest {
    private static final int MIB = 1 << 20;
    private static final int BIG = 900_000;
    private static final long NOW = 1_000_000;

    private final PlainArenas arenas = new PlainArenas();

    @AfterEach
    void free() {
        arenas.close();
    }

    private ItemStore store(int mib, boolean evicting) {
        SlabAllocator slabs = new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, (long) mib * MIB);
        return new ItemStore(slabs, 42, evicting);
    }

    private static NewItem begin(ItemStore store, String key, long nowSeconds) {
        byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        return store.reserve(new KeySlice(bytes), 0, 0, BIG, nowSeconds);
    }

    @Test
    void shouldGiveUpTheOneThatHoldsMostMemoryForItsBytes() {
        ItemStore store = store(8, true);
        NewItem stopped = begin(store, "stopped", NOW);
        store.await(stopped, 1, NOW);
        NewItem[] going = new NewItem[4];
        for (int i = 0; i < going.length; i++) {
            going[i] = begin(store, "going" + i, NOW);
            store.await(going[i], 60_000 + i, NOW);
        }
        assertFalse(store.goOn(stopped), "half of the memory is four of them");
        for (NewItem item : going) {
            assertTrue(store.goOn(item));
            store.abandon(item);
        }
    }

    @Test
    void shouldGiveUpFirstWhatHasNotGoneOn() {
        ItemStore store = store(4, true);
        NewItem stopped = begin(store, "stopped", NOW);
        store.await(stopped, BIG - 1, NOW);
        NewItem trickling = begin(store, "trickling", NOW);
        store.await(trickling, BIG / 2, NOW);
        for (int second = 1; second <= 3; second++) {
            assertTrue(store.goOn(trickling));
            store.await(trickling, BIG / 2 + second, NOW + second); // too few bytes to count
        }
        for (int i = 0; i < 2; i++) {
            NewItem fresh = begin(store, "fresh", NOW + 3);
            store.await(fresh, 1, NOW + 3);
            assertTrue(store.goOn(fresh));
            store.await(fresh, 60_000, NOW + 3);
        }
        assertFalse(store.goOn(stopped));
        assertFalse(store.goOn(trickling));
    }

    @Test
    void shouldMakeRoomInAClassThatHasNoOtherMemory() {
        for (boolean evicting : new boolean[] {true, false}) {
            ItemStore store = store(1, evicting);
            NewItem stopped = begin(store, "stopped", NOW);
            store.await(stopped, 1, NOW);
            assertEquals(
                    NewItem.Status.OUT_OF_MEMORY, begin(store, "other", NOW + 1).status(), "it may go on");
            NewItem other = begin(store, "other", NOW + UnfinishedItems.STALE_SECONDS);
            assertEquals(NewItem.Status.READY, other.status());
            assertFalse(store.goOn(stopped));
            assertEquals(StoreStatus.STORED, store.store(other, new StoreRule(), NOW + UnfinishedItems.STALE_SECONDS));
        }
    }

    @Test
    void shouldKeepASingleOneHoweverLarge() {
        ItemStore store = store(1, true);
        NewItem item = begin(store, "large", NOW);
        for (int received = 1; received < BIG; received += 200_000) {
            store.await(item, received, NOW);
            assertTrue(store.goOn(item));
        }
        assertEquals(StoreStatus.STORED, store.store(item, new StoreRule(), NOW));
    }
}
