package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.ItemCheck;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.store.PageMover.Answer;

/** Pages that change their class. */
class PageMoverTest {
    private static final int PAGE = 4096;
    private static final int PAGES = 8;
    private static final int MOST_STEPS = 1000;
    private static final String SHORT = "v".repeat(20);

    /** Zeroes, which as the header of a chunk are one of new memory. */
    private static final String LONG = "\0".repeat(800);

    private final PlainArenas arenas = new PlainArenas();
    private final SlabGeometry geometry = new SlabGeometry(2, 48, 1024, PAGE);
    private final SlabAllocator slabs = new SlabAllocator(geometry, arenas, PAGES * PAGE);
    private final ItemStore store = new ItemStore(slabs, 1, true);
    private final StoreUser user = new StoreUser(store);
    private final int small = geometry.sizeClass(ItemDescriptor.itemLength(4, SHORT.length()));
    private final int large = geometry.sizeClass(ItemDescriptor.itemLength(4, LONG.length()));
    private final int perPage = PAGE / geometry.chunkLength(small);

    @AfterEach
    void free() {
        arenas.close();
    }

    private void move(int from, int to) {
        assertEquals(Answer.OK, store.mover().ask(from, to));
        finish();
    }

    private void finish() {
        for (int steps = 0; store.mover().isMoving(); steps++) {
            assertTrue(steps < MOST_STEPS, "it does not end");
            if (!store.mover().step(user.now)) {
                user.now++;
            }
        }
    }

    private int pages(int sizeClass) {
        return slabs.statistics(sizeClass).pages();
    }

    /** So many keys with short values, of four letters each. */
    private List<String> fill(int count) {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            keys.add("%04d".formatted(i));
            assertEquals(StoreStatus.STORED, user.set(keys.get(i), SHORT + i));
        }
        return keys;
    }

    @Test
    void shouldCopyItemsWhereThereIsRoom() {
        List<String> keys = fill(2 * perPage);
        Map<String, Long> numbers = new HashMap<>();
        Map<String, Locator> places = new HashMap<>();
        for (String key : keys) {
            numbers.put(key, user.cas(key));
            places.put(key, user.locator(key));
        }
        move(small, large);
        assertEquals(2, pages(small), "another page was taken for the copies");
        assertEquals(1, pages(large));
        assertEquals(new PageMover.Counts(1, perPage, 0, 0, 0), store.mover().counts());
        int moved = 0;
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            assertEquals(SHORT + i, user.get(key));
            assertEquals(numbers.get(key), user.cas(key));
            moved += Objects.equals(places.get(key), user.locator(key)) ? 0 : 1;
        }
        assertEquals(perPage, moved);
        assertEquals(StoreStatus.STORED, user.set("long", LONG));
        assertEquals(1, pages(large), "the page that came is used");
    }

    /** Marks, the time of use and the order of eviction are those of the item, not of its chunk. */
    @Test
    void shouldKeepTheOrderOfEviction() {
        List<String> keys = fill(3 * perPage);
        store.lru().segmented(false);
        List<String> before = coldest();
        move(small, PageMover.POOL);
        assertEquals(before, coldest());
        assertEquals(1, store.mover().pooledPages());
        assertEquals(keys.size(), before.size());
    }

    private List<String> coldest() {
        List<String> found = new ArrayList<>();
        SegmentedLru lru = slabs.lru(small);
        lru.lock.lock();
        try {
            for (int segment = 0; segment < SegmentedLru.SEGMENTS; segment++) {
                for (int id = lru.tail(segment); id != SegmentedLru.NONE; id = lru.warmer(id)) {
                    long chunk = lru.page(id).chunk(lru.index(id));
                    found.add(new String(new StoredItem(slabs).wrap(chunk).key(), StandardCharsets.ISO_8859_1));
                }
            }
        } finally {
            lru.lock.unlock();
        }
        return found;
    }

    @Test
    void shouldEvictWhatHasNoRoom() {
        List<String> evicted = new ArrayList<>();
        fill(PAGES * perPage);
        store.onEviction(item -> evicted.add(new String(item.key(), StandardCharsets.ISO_8859_1)));
        move(small, large);
        assertEquals(PAGES - 1, pages(small));
        assertEquals(perPage, evicted.size());
        assertEquals(perPage, store.mover().counts().evicted());
        for (String key : evicted) {
            assertNull(user.get(key));
        }
        assertEquals((PAGES - 1L) * perPage, store.statistics().currentItems());
    }

    /** A client that knows where an item was follows it, misses, or finds it; it never takes another for it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldNeverLetAnOldPlaceShowALivingItemThatIsNotThere(long seed) {
        Random random = new Random(seed);
        Map<Locator, String> known = new HashMap<>();
        Map<String, String> state = new HashMap<>();
        Map<Long, Integer> generations = new HashMap<>();
        int hits = 0;
        for (int i = 0; i < 3000; i++) {
            String key = "%04d".formatted(random.nextInt(200));
            String value = (random.nextInt(4) == 0 ? LONG : SHORT) + i;
            if (random.nextInt(5) == 0) {
                user.delete(key);
                state.remove(key);
            } else if (user.set(key, value) == StoreStatus.STORED) {
                state.put(key, value);
                Locator place = Objects.requireNonNull(user.locator(key));
                known.put(place, key);
                Integer earlier = generations.put(place.offset(), place.generation());
                assertTrue(earlier == null || earlier < place.generation(), "a life comes again, seed=" + seed);
            }
            if (i % 20 == 0) {
                boolean down = random.nextBoolean();
                store.mover().ask(down ? large : small, down ? small : large);
                finish();
            }
            if (i % 100 == 0) {
                for (Map.Entry<Locator, String> each : known.entrySet()) {
                    String found = read(each.getKey(), each.getValue());
                    if (found != null) {
                        assertEquals(state.get(each.getValue()), found, "seed=" + seed);
                        hits++;
                    }
                }
            }
        }
        assertTrue(store.mover().counts().pages() > 20, store.mover().counts().toString());
        assertTrue(hits > 1000, "hits=" + hits);
        assertTrue(known.size() > 1000, "places=" + known.size());
    }

    /** What a client finds that READs there: the value, or null unless it is the item of that life. */
    private @Nullable String read(Locator place, String key) {
        MemorySegment memory = arenas.memory(place.rkey());
        int length = place.length();
        MemorySegment landed = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(length + 8));
        MemorySegment.copy(memory, place.offset(), landed, 0, length);
        ItemCheck check = new ItemCheck();
        ReadOutcome outcome = check.check(
                landed, landed.asByteBuffer(), 0, place.second(), StoreUser.bytes(key), ItemCheck.NO_EXPIRY);
        if (outcome != ReadOutcome.HIT) {
            return null;
        }
        byte[] value = landed.asSlice(ItemDescriptor.valueOffset(landed, 0), check.valueLength())
                .toArray(ValueLayout.JAVA_BYTE);
        return new String(value, StandardCharsets.ISO_8859_1);
    }

    @Test
    void shouldWaitForWhoUsesTheBytesAndGiveUpInTheEnd() {
        List<String> keys = fill(2 * perPage);
        PinnedItem pinned = store.pin(new KeySlice(StoreUser.bytes(keys.getFirst())), user.now);
        assertEquals(Answer.OK, store.mover().ask(small, large));
        long begun = user.now;
        finish();
        assertTrue(user.now - begun >= PageMover.PATIENCE_SECONDS, "it waited " + (user.now - begun) + " s");
        assertEquals(1, store.mover().counts().abandoned());
        assertEquals(0, pages(large));
        store.unpin(pinned);
        for (String key : keys) {
            assertEquals(StoreStatus.STORED, user.set(key, SHORT));
        }
        assertEquals(3, pages(small), "its chunks are in use again");
        pinned = store.pin(new KeySlice(StoreUser.bytes(keys.getFirst())), user.now);
        assertEquals(Answer.OK, store.mover().ask(small, large));
        while (store.mover().step(user.now)) {
            // until it waits
        }
        assertTrue(store.mover().isMoving());
        store.unpin(pinned);
        finish();
        assertEquals(1, pages(large));
    }

    @Test
    void shouldGiveUpAValueThatNobodyGoesOnWith() {
        NewItem begun = store.reserve(new KeySlice(StoreUser.bytes("slow")), 0, 0, SHORT.length(), user.now);
        store.await(begun, 1, user.now);
        fill(2 * perPage);
        move(small, large);
        assertEquals(1, pages(large));
        assertFalse(store.goOn(begun), "it has lost its chunk");
    }

    @Test
    void shouldAnswerAsMemcached() {
        fill(1);
        PageMover mover = store.mover();
        assertEquals(Answer.SAME, mover.ask(small, small));
        assertEquals(Answer.BAD_CLASS, mover.ask(geometry.classes(), small));
        assertEquals(Answer.BAD_CLASS, mover.ask(small, geometry.classes()));
        assertEquals(Answer.BAD_CLASS, mover.ask(-7, small));
        assertEquals(Answer.NO_SPARE, mover.ask(small, large));
        assertEquals(Answer.NO_SPARE, mover.ask(PageMover.ANY_CLASS, large));
        assertEquals(Answer.NO_SPARE, mover.ask(PageMover.POOL, large));
        fill(2 * perPage);
        assertEquals(Answer.OK, mover.ask(PageMover.ANY_CLASS, large));
        assertEquals(Answer.BUSY, mover.ask(small, large));
        finish();
        assertEquals(1, pages(large));
    }

    /** Where each chunk has a key, the keys of the page name a dead chunk afterwards. */
    @Test
    void shouldLetOldKeysNameATombstone() {
        KeyedChunks keyed = new KeyedChunks(() -> {});
        SlabAllocator named = new SlabAllocator(geometry, keyed, PAGES * PAGE);
        ItemStore other = new ItemStore(named, 1, true);
        StoreUser there = new StoreUser(other);
        List<Integer> rkeys = new ArrayList<>();
        for (int i = 0; i < PAGES * perPage; i++) {
            there.set("%04d".formatted(i), SHORT);
            rkeys.add(Objects.requireNonNull(there.locator("%04d".formatted(i))).rkey());
        }
        assertEquals(Answer.OK, other.mover().ask(small, large));
        while (other.mover().isMoving()) {
            other.mover().step(there.now);
        }
        there.set("long", LONG);
        int dead = 0;
        for (int i = 0; i < rkeys.size(); i++) {
            MemorySegment chunk = keyed.chunk(rkeys.get(i));
            assertEquals(geometry.chunkLength(small), chunk.byteSize(), "a name stands for as many bytes for ever");
            boolean lives = (ItemDescriptor.generation(chunk, 0) & 1) != 0;
            assertEquals(there.get("%04d".formatted(i)) != null, lives);
            dead += lives ? 0 : 1;
        }
        assertEquals(perPage, dead);
        assertNotEquals(0, rkeys.size());
        keyed.close();
    }

    /** memcached's: whole free pages go to the pool at once, and whoever needs one takes it. */
    @Test
    void shouldGiveFreePagesToThePool() {
        for (int i = 0; i < PAGES * PAGE / geometry.chunkLength(large); i++) {
            user.set("l%03d".formatted(i), LONG);
        }
        assertEquals(PAGES, pages(large));
        store.flush();
        for (int second = 0; second < 2 * PageBalance.DEFAULT_WINDOW; second++) {
            user.now++;
            store.balance().round(user.now, true);
            while (store.mover().isMoving()) {
                store.mover().step(user.now);
                if (!store.mover().isMoving() && store.balance().isReclaiming()) {
                    store.balance().round(user.now, false);
                }
            }
        }
        assertTrue(pages(large) <= 3, "pages=" + pages(large));
        assertEquals(PAGES, pages(large) + store.mover().pooledPages());
        user.set("k", "first page of a class, beyond the limit");
        fill(4 * perPage);
        assertTrue(pages(small) >= 4, "pages=" + pages(small));
        assertEquals(4L * perPage + 1, store.statistics().currentItems());
    }

    /** Pages of the pool beyond a lower limit are gone, and come again with a higher one. */
    @Test
    void shouldShrinkAndGrowThePoolWithTheLimit() {
        fill(PAGES * perPage);
        store.flush();
        for (int i = 0; i < 3; i++) {
            move(small, PageMover.POOL);
        }
        assertEquals(PAGES, slabs.pagedBytes() / PAGE);
        store.memoryLimit((PAGES - 2) * PAGE);
        assertEquals(PAGES - 2, slabs.pagedBytes() / PAGE);
        assertEquals(1, store.mover().pooledPages());
        fill(PAGES * perPage);
        assertEquals(PAGES - 2, pages(small));
        assertEquals((PAGES - 2L) * perPage, store.statistics().currentItems());
        store.memoryLimit(PAGES * PAGE);
        fill(PAGES * perPage);
        assertEquals(PAGES, pages(small));
        assertEquals((long) PAGES * perPage, store.statistics().currentItems());
    }

    @Test
    void shouldGiveAPageToTheClassThatEvictsTheYoungest() {
        store.balance().window(3);
        for (int i = 0; i < (PAGES - 1) * PAGE / geometry.chunkLength(large); i++) {
            user.set("l%03d".formatted(i), LONG);
        }
        user.now += 1000;
        for (int second = 0; second < 20 && pages(small) < 3; second++) {
            for (int i = 0; i < perPage; i++) {
                user.set("%04d".formatted(second * perPage + i), SHORT);
            }
            user.now++;
            store.balance().round(user.now, true);
            while (store.mover().isMoving()) {
                store.mover().step(user.now);
            }
        }
        assertEquals(3, pages(small));
        store.balance().level(0);
        long moved = store.mover().counts().pages();
        for (int i = 0; i < 10; i++) {
            store.balance().round(user.now++, true);
        }
        assertEquals(moved, store.mover().counts().pages());
    }

    /** Its share of all evictions in the last half minute comes to more than a quarter long before it has evicted for half of it. */
    @Test
    void shouldGiveAPageToTheClassThatEvictsMostAfterAQuarterOfTheWindow() {
        for (int i = 0; i < (PAGES - 1) * PAGE / geometry.chunkLength(large); i++) {
            user.set("l%03d".formatted(i), LONG);
        }
        for (int second = 0; second < PageBalance.DEFAULT_WINDOW; second++) {
            user.now++;
            store.balance().round(user.now, true);
        }
        fill(perPage);
        int seconds = 0;
        while (!store.mover().isMoving()) {
            user.set("s%03d".formatted(seconds), SHORT);
            user.now++;
            store.balance().round(user.now, true);
            seconds++;
        }
        assertEquals(PageBalance.DEFAULT_WINDOW / 4 + 1, seconds);
    }

    @Test
    void shouldMoveAtOnceIfEager() {
        store.balance().level(PageBalance.EAGER);
        for (int i = 0; i < (PAGES - 1) * PAGE / geometry.chunkLength(large); i++) {
            user.set("l%03d".formatted(i), LONG);
        }
        fill(perPage);
        assertFalse(store.mover().isMoving());
        fill(perPage + 1);
        assertTrue(store.mover().isMoving());
        finish();
        assertEquals(2, pages(small));
    }
}
