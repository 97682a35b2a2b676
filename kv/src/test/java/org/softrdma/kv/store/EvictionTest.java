package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeyHash;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;

class EvictionTest {
    private static final int MIB = 1 << 20;
    private static final long SEED = 42;
    private static final String VALUE = "v".repeat(1000);

    private final PlainArenas arenas = new PlainArenas();

    @AfterEach
    void free() {
        arenas.close();
    }

    private ItemStore store(int mib, boolean evicting) {
        SlabAllocator slabs = new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, (long) mib * MIB);
        return new ItemStore(slabs, SEED, evicting);
    }

    @Test
    void shouldEvictTheOldestAndKillThem() {
        ItemStore store = store(2, true);
        StoreUser user = new StoreUser(store);
        user.set("key0", VALUE);
        Locator first = user.locator("key0");
        for (int i = 1; i < 5000; i++) {
            assertEquals(StoreStatus.STORED, user.set("key" + i, VALUE));
        }
        assertNull(user.get("key0"));
        assertNotNull(first);
        assertTrue(ItemDescriptor.generation(arenas.memory(first.rkey()), first.offset()) != first.generation());
        assertEquals(VALUE, user.get("key4999"));
        SizeClassStatistics events = store.classStatistics(user.now).getFirst();
        assertEquals(
                5000 - store.statistics().currentItems(),
                events.events().evictions().items());
        assertEquals(
                events.events().evictions().items(), events.events().evictions().unfetched());
        assertEquals(store.statistics().currentItems(), events.lru().items());
        assertTrue(events.lru().hot().items() <= events.lru().items() / 4, events.toString());
    }

    /** A page never changes its class: what freed chunks wait for must not take pages from others. */
    @Test
    void shouldNotTakeMemoryFromOthersForReplacedItems() {
        ItemStore store = store(64, true);
        StoreUser user = new StoreUser(store);
        for (int length : new int[] {100, 1000, 10_000, 30_000, 100_000, 300_000, 700_000}) {
            for (int i = 0; i < 1000; i++) {
                assertEquals(StoreStatus.STORED, user.set("replaced" + length, "v".repeat(length)));
            }
        }
        for (SizeClassStatistics each : store.classStatistics(user.now)) {
            assertTrue(each.slab().pages() <= 2, each::toString);
        }
        for (int i = 0; i < 20_000; i++) {
            assertEquals(StoreStatus.STORED, user.set("key" + i, VALUE));
        }
        assertEquals(20_007, store.statistics().currentItems(), "nothing was evicted");
    }

    @Test
    void shouldWantToHearOfReadsMoreOftenWhileItEvicts() {
        ItemStore store = store(2, true);
        StoreUser user = new StoreUser(store);
        user.set("key0", VALUE);
        assertEquals(60, store.touchIntervalSeconds(user.now));
        for (int i = 1; i < 5000; i++) {
            user.set("key" + i, VALUE);
        }
        assertNull(user.get("key0"));
        assertEquals(1, store.touchIntervalSeconds(user.now));
        assertEquals(1, store.touchIntervalSeconds(user.now + 59));
        assertEquals(60, store.touchIntervalSeconds(user.now + 60));
    }

    @Test
    void shouldAnswerOutOfMemoryWhereNothingMayBeEvicted() {
        StoreUser user = new StoreUser(store(2, false));
        int stored = 0;
        while (user.set("key" + stored, VALUE) == StoreStatus.STORED) {
            stored++;
        }
        assertTrue(stored > 1000, "stored " + stored);
        assertEquals(VALUE, user.get("key0"));
        user.delete("key0");
        assertEquals(StoreStatus.STORED, user.set("key" + stored, VALUE));
        assertEquals(StoreStatus.OUT_OF_MEMORY, user.set("more", VALUE));
    }

    @Test
    void shouldTakeRoomOfExpiredItemsEvenWhereNothingMayBeEvicted() {
        ItemStore store = store(2, false);
        StoreUser user = new StoreUser(store);
        int stored = 0;
        while (user.store("key" + stored, VALUE, (int) user.now + 1, new StoreRule()) == StoreStatus.STORED) {
            stored++;
        }
        user.now++;
        for (int i = 0; i < stored; i++) {
            assertEquals(StoreStatus.STORED, user.set("new" + i, VALUE));
        }
        assertEquals(stored, store.classStatistics(user.now).getFirst().events().reclaimed());
    }

    @Test
    void shouldReclaimExpiredItemsFromTheTailsAndNothingElse() {
        ItemStore store = store(2, true);
        StoreUser user = new StoreUser(store);
        for (int i = 0; i < 20; i++) {
            user.store("dying" + i, VALUE, (int) user.now + 1, new StoreRule());
        }
        user.set("living", VALUE);
        store.reclaimTails(user.now);
        assertEquals(21, store.statistics().currentItems());
        store.reclaimTails(user.now + 1);
        assertEquals(1, store.statistics().currentItems());
        assertEquals(VALUE, user.get("living"));
        SizeClassStatistics.Events events =
                store.classStatistics(user.now).getFirst().events();
        assertEquals(20, events.reclaimed());
        assertEquals(20, events.expiredUnfetched());
        assertEquals(0, events.evictions().items());
    }

    @Test
    void shouldKeepWhatIsReadAgainAndAgainThroughAScan() {
        StoreUser user = new StoreUser(store(4, true));
        for (int i = 0; i < 100; i++) {
            user.set("hot" + i, VALUE);
        }
        for (int i = 0; i < 100_000; i++) {
            user.set("scan" + i, VALUE);
            assertEquals(VALUE, user.get("hot" + i % 100), "after " + i);
        }
    }

    @Test
    void shouldKeepWhatIsReadOnlyByPeersWhoReportIt() {
        ItemStore store = store(4, true);
        StoreUser user = new StoreUser(store);
        List<Locator> locators = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            user.set("hot" + i, VALUE);
            locators.add(user.locator("hot" + i));
        }
        for (int i = 0; i < 100_000; i++) {
            user.set("scan" + i, VALUE);
            Locator locator = locators.get(i % 100);
            assertTrue(store.touched(locator.first(), locator.generation(), 1, user.now), "after " + i);
        }
        for (int i = 0; i < 100; i++) {
            assertEquals(locators.get(i), user.locator("hot" + i));
        }
    }

    @Test
    void shouldNotTouchWhatALocatorNoLongerNames() {
        ItemStore store = store(4, true);
        StoreUser user = new StoreUser(store);
        user.set("key", VALUE);
        Locator locator = user.locator("key");
        assertNotNull(locator);
        assertFalse(store.touched(locator.first() + 1, locator.generation(), 1, user.now), "another rkey");
        assertFalse(store.touched(new Locator(locator.rkey(), locator.offset() + 8, 8, 0, 1).first(), 1, 1, user.now));
        assertFalse(store.touched(new Locator(locator.rkey(), 1L << 34, 8, 0, 1).first(), 1, 1, user.now));
        assertFalse(store.touched(locator.first(), locator.generation() + 2, 1, user.now));
        user.delete("key");
        assertFalse(store.touched(locator.first(), locator.generation(), 1, user.now));
        assertFalse(store.touched(locator.first(), locator.generation() + 1, 1, user.now), "even generation");
    }

    @Test
    void shouldNotTouchGarbage() {
        long seed = Long.getLong("softrdma.seed", 20_261_123);
        Random random = new Random(seed);
        ItemStore store = store(4, true);
        StoreUser user = new StoreUser(store);
        for (int i = 0; i < 1000; i++) {
            user.set("key" + i, VALUE);
        }
        Locator one = user.locator("key1");
        assertNotNull(one);
        for (int i = 0; i < 100_000; i++) {
            long first = random.nextBoolean()
                    ? random.nextLong()
                    : Integer.toUnsignedLong(one.rkey()) | (long) random.nextInt(1 << 24) << Integer.SIZE;
            assertFalse(store.touched(first, random.nextInt() & ~1, 1, user.now), "softrdma.seed=" + seed);
        }
    }

    @Test
    void shouldMakeRoomByWhatIsNotPinned() {
        ItemStore store = store(2, true);
        StoreUser user = new StoreUser(store);
        user.set("pinned", VALUE);
        PinnedItem pinned = store.pin(new KeySlice(StoreUser.bytes("pinned")), user.now);
        for (int i = 0; i < 10_000; i++) {
            assertEquals(StoreStatus.STORED, user.set("key" + i, VALUE));
        }
        assertNotNull(user.locator("pinned"));
        store.unpin(pinned);
        for (int i = 0; i < 10_000; i++) {
            assertEquals(StoreStatus.STORED, user.set("key" + i, VALUE));
        }
        assertNull(user.get("pinned"));
    }

    @Test
    void shouldEvictOneItemForEachNewOneHoweverManyArePinned() {
        ItemStore store = store(8, true);
        StoreUser user = new StoreUser(store);
        String page = "v".repeat(900_000);
        List<PinnedItem> pinned = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            assertEquals(StoreStatus.STORED, user.set("pinned" + i, page));
            if (i != 3) {
                pinned.add(store.pin(new KeySlice(StoreUser.bytes("pinned" + i)), user.now));
            }
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(StoreStatus.STORED, user.set("key" + i, page));
        }
        assertEquals(8, store.statistics().currentItems());
        assertEquals(
                20,
                store.classStatistics(user.now).getFirst().events().evictions().items());
        pinned.add(store.pin(new KeySlice(StoreUser.bytes("key19")), user.now));
        assertEquals(StoreStatus.OUT_OF_MEMORY, user.set("more", page));
        assertEquals(8, store.statistics().currentItems(), "an eviction would make no room");
        pinned.forEach(store::unpin);
        assertEquals(StoreStatus.STORED, user.set("more", page));
    }

    @Test
    void shouldLeavePinnedBytesAloneWhenTheirItemIsGone() {
        ItemStore store = store(2, true);
        StoreUser user = new StoreUser(store);
        user.set("pinned", VALUE);
        PinnedItem pinned = store.pin(new KeySlice(StoreUser.bytes("pinned")), user.now);
        user.delete("pinned");
        for (int i = 0; i < 10_000; i++) {
            assertEquals(StoreStatus.STORED, user.set("key" + i, VALUE));
        }
        assertEquals(
                VALUE.length(),
                ItemDescriptor.valueLength(
                        pinned.arena().memory(), pinned.locator().offset()));
        assertTrue(ItemDescriptor.hasKey(
                pinned.arena().memory(), pinned.locator().offset(), new KeySlice(StoreUser.bytes("pinned"))));
        store.unpin(pinned);
    }

    /** As when a thread does not run for a while: what it is busy with stays behind at the tail. */
    @Test
    void shouldEvictOthersWhileAThreadHoldsTheLockOfAKey() throws Exception {
        ItemStore store = store(2, true);
        StoreUser user = new StoreUser(store);
        for (int i = 0; store.statistics().currentItems() < 20; i++) {
            if (sharesLock("held", "old" + i)) {
                user.set("old" + i, VALUE);
            }
        }
        user.set("held", VALUE);
        CountDownLatch holding = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Future<Boolean> held = executor.submit(() -> store.get(
                    new KeySlice(StoreUser.bytes("held")), user.now, false, item -> awaitQuietly(holding, done)));
            holding.await();
            try {
                for (int i = 0; i < 20_000; i++) {
                    String key = "key" + i;
                    if (!sharesLock("held", key)) {
                        assertEquals(StoreStatus.STORED, user.set(key, VALUE), key);
                    }
                }
            } finally {
                done.countDown();
            }
            assertTrue(held.get());
        }
    }

    private static boolean sharesLock(String key, String other) {
        return (hash(key) ^ hash(other)) >>> (Long.SIZE - Byte.SIZE) == 0; // 256 stripes
    }

    private static long hash(String key) {
        return KeyHash.hash(new KeySlice(StoreUser.bytes(key)), SEED);
    }

    private static void awaitQuietly(CountDownLatch reached, CountDownLatch goOn) {
        reached.countDown();
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the test has failed
        }
    }

    @Test
    void shouldEvictUnderManyThreadsWithoutLosingCount() throws Exception {
        ItemStore store = store(4, true);
        int threads = 4;
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                StoreUser own = new StoreUser(store);
                Random random = new Random(i);
                done.add(executor.submit(() -> {
                    for (int step = 0; step < 30_000; step++) {
                        String key = "key" + random.nextInt(20_000);
                        switch (random.nextInt(4)) {
                            case 0, 1 -> assertEquals(StoreStatus.STORED, own.set(key, VALUE));
                            case 2 -> own.delete(key);
                            default -> {
                                String value = own.get(key);
                                assertTrue(value == null || value.equals(VALUE));
                            }
                        }
                    }
                }));
            }
            for (Future<?> each : done) {
                each.get();
            }
        }
        StoreUser user = new StoreUser(store);
        SizeClassStatistics counted = store.classStatistics(user.now).getFirst();
        assertEquals(store.statistics().currentItems(), counted.lru().items());
        assertEquals(counted.lru().items(), counted.slab().usedChunks());
        store.flush();
        assertEquals(0, store.statistics().currentItems());
        assertEquals(0, store.statistics().currentBytes());
        assertEquals(0, store.classStatistics(user.now).getFirst().lru().items());
    }
}
