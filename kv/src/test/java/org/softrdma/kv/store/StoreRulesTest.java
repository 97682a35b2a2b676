package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;

class StoreRulesTest {
    private static final int MIB = 1 << 20;
    private static final StoreRule ADD = new StoreRule().reset(StoreMode.ADD);
    private static final StoreRule REPLACE = new StoreRule().reset(StoreMode.REPLACE);
    private static final StoreRule APPEND = new StoreRule().reset(StoreMode.APPEND);
    private static final StoreRule PREPEND = new StoreRule().reset(StoreMode.PREPEND);

    private final PlainArenas arenas = new PlainArenas();
    private final ItemStore store =
            new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, 64L * MIB), 42, true);
    private final StoreUser user = new StoreUser(store);

    @AfterEach
    void free() {
        arenas.close();
    }

    @Test
    void shouldStoreOnlyWhatTheModeAllows() {
        assertEquals(StoreStatus.NOT_STORED, user.store("key", "x", 0, REPLACE));
        assertEquals(StoreStatus.NOT_STORED, user.store("key", "x", 0, APPEND));
        assertEquals(StoreStatus.NOT_STORED, user.store("key", "x", 0, PREPEND));
        assertEquals(StoreStatus.NOT_FOUND, user.store("key", "x", 0, cas(1)));
        assertNull(user.get("key"));
        assertEquals(StoreStatus.STORED, user.store("key", "b", 0, ADD));
        assertEquals(StoreStatus.NOT_STORED, user.store("key", "x", 0, ADD));
        assertEquals(StoreStatus.STORED, user.store("key", "c", 0, APPEND));
        assertEquals(StoreStatus.STORED, user.store("key", "a", 0, PREPEND));
        assertEquals("abc", user.get("key"));
        assertEquals(StoreStatus.STORED, user.store("key", "d", 0, REPLACE));
        assertEquals("d", user.get("key"));
        assertEquals(1, store.statistics().currentItems());
    }

    @Test
    void shouldStoreOverExactlyTheCasNumber() {
        user.set("key", "1");
        long cas = user.cas("key");
        assertEquals(StoreStatus.EXISTS, user.store("key", "x", 0, cas(cas + 1)));
        assertEquals(StoreStatus.EXISTS, user.store("key", "x", 0, cas(0)));
        assertEquals(StoreStatus.STORED, user.store("key", "2", 0, cas(cas)));
        assertEquals(StoreStatus.EXISTS, user.store("key", "x", 0, cas(cas)));
        assertEquals("2", user.get("key"));
        assertEquals(
                StoreStatus.EXISTS,
                user.store(
                        "key", "x", 0, new StoreRule().reset(StoreMode.APPEND).compareCas(cas)));
        assertEquals("2", user.get("key"));
    }

    @Test
    void shouldHaveNoCasNumbersIfToldSo() {
        ItemStore without =
                new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, MIB), 42, true, false);
        StoreUser other = new StoreUser(without);
        assertEquals(StoreStatus.STORED, other.store("key", "1", 0, new StoreRule().newCas(1000)));
        assertEquals(0, other.cas("key"));
        assertEquals(StoreStatus.EXISTS, other.store("key", "x", 0, cas(0)));
        assertEquals(StoreStatus.EXISTS, other.store("key", "x", 0, cas(1)));
        assertEquals(StoreStatus.STORED, other.store("key", "2", 0, APPEND));
        assertEquals(0, other.cas("key"));
        assertEquals("12", other.get("key"));
    }

    @Test
    void shouldTakeTheGivenCasNumber() {
        user.store("key", "1", 0, new StoreRule().newCas(1000));
        assertEquals(1000, user.cas("key"));
        assertEquals(1000, user.last == null ? 0 : user.last.cas());
    }

    @Test
    void shouldKeepFlagsAndExpiryWhenAppending() {
        int expiry = (int) user.now + 10;
        user.store("key", "a", expiry, new StoreRule());
        user.store("key", "b", 0, APPEND);
        store.get(new KeySlice(StoreUser.bytes("key")), user.now, false, item -> {
            assertEquals(7, item.flags());
            assertEquals(expiry, item.expiry());
        });
        user.now += 10;
        assertNull(user.get("key"));
        assertEquals(StoreStatus.NOT_STORED, user.store("key", "c", 0, APPEND), "it has expired");
    }

    @Test
    void shouldSayBusyWhenTheItemChangesWheneverItIsRewritten() {
        user.set("key", "1");
        int[] changes = {0};
        ItemRewriter overtaken = new PlusOne() {
            @Override
            public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
                super.write(old, oldOffset, oldLength, target, offset);
                changes[0]++;
                assertEquals(StoreStatus.STORED, user.set("key", "5"));
            }
        };
        assertEquals(StoreStatus.BUSY, user.rewrite("key", overtaken));
        assertTrue(changes[0] > 1, "it was tried again");
        assertEquals("5", user.get("key"), "nothing was done");
        assertEquals(1, store.statistics().currentItems());
        assertEquals(StoreStatus.STORED, user.rewrite("key", new PlusOne()));
        assertEquals("6", user.get("key"));
    }

    @Test
    void shouldSayBusyWhenAsManyHoldTheItemAsMay() {
        user.set("key", "1");
        SlabPage[] page = new SlabPage[1];
        int[] index = new int[1];
        store.get(new KeySlice(StoreUser.bytes("key")), user.now, false, item -> {
            page[0] = item.page();
            index[0] = item.index();
        });
        int pins = 0;
        while (page[0].pin(index[0])) {
            pins++;
        }
        assertEquals(StoreStatus.BUSY, user.rewrite("key", new PlusOne()), "it is a number");
        assertEquals(StoreStatus.BUSY, user.store("key", "2", 0, APPEND));
        assertEquals("1", user.get("key"));
        while (pins > 0) {
            assertFalse(page[0].unpin(index[0]));
            pins--;
        }
        assertEquals(StoreStatus.STORED, user.store("key", "2", 0, APPEND));
        assertEquals("12", user.get("key"));
    }

    @Test
    void shouldKeepTheExpiryOfTouchWhileTheItemIsRewritten() {
        user.store("key", "1", (int) user.now + 10, new StoreRule());
        byte[] key = StoreUser.bytes("key");
        int[] touches = {0};
        ItemRewriter touched = new PlusOne() {
            @Override
            public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
                touches[0]++;
                assertTrue(store.get(new KeySlice(key), user.now, true, item -> item.setExpiry((int) user.now + 1000)));
                super.write(old, oldOffset, oldLength, target, offset);
            }
        };
        assertEquals(StoreStatus.STORED, user.rewrite("key", touched));
        assertEquals(1, touches[0]);
        user.now += 999;
        assertEquals("2", user.get("key"));
        user.now += 1;
        assertNull(user.get("key"));
    }

    @Test
    void shouldKeepThatTheKeyIsBinaryInWhateverReplacesItsItem() {
        user.store("key", "1", 0, new StoreRule().keyBinary(true));
        for (ItemRewriter.Marks marks : ItemRewriter.Marks.values()) {
            assertEquals(StoreStatus.STORED, user.rewrite("key", new Marked(marks)));
            assertKeyBinary("key");
        }
        assertEquals(StoreStatus.STORED, user.store("key", "0", 0, APPEND));
        assertKeyBinary("key");
        StoreRule create =
                new StoreRule().reset(StoreMode.APPEND).createIfMissing(0).keyBinary(true);
        assertEquals(StoreStatus.STORED, user.store("made", "0", 0, create));
        assertKeyBinary("made");
    }

    private void assertKeyBinary(String key) {
        assertTrue(
                store.get(new KeySlice(StoreUser.bytes(key)), user.now, false, item -> assertTrue(item.isKeyBinary())));
    }

    @Test
    void shouldKeepOrChangeTheMarksForRecachingAsTheRewriterSays() {
        user.set("key", "1");
        assertMarks(ItemRewriter.Marks.KEPT, false, false);
        assertMarks(ItemRewriter.Marks.STALE, true, false);
        assertTrue(store.get(new KeySlice(StoreUser.bytes("key")), user.now, false, StoredItem::setTokenSent));
        assertMarks(ItemRewriter.Marks.KEPT, true, true);
        assertMarks(ItemRewriter.Marks.STALE, true, false);
        assertMarks(ItemRewriter.Marks.NONE, false, false);
    }

    private void assertMarks(ItemRewriter.Marks marks, boolean stale, boolean tokenSent) {
        assertEquals(StoreStatus.STORED, user.rewrite("key", new Marked(marks)));
        store.get(new KeySlice(StoreUser.bytes("key")), user.now, false, item -> {
            assertEquals(stale, item.isStale(), marks::toString);
            assertEquals(tokenSent, item.isTokenSent(), marks::toString);
        });
    }

    @Test
    void shouldCreateByAppendWhenAsked() {
        StoreRule rule = new StoreRule().reset(StoreMode.APPEND).createIfMissing((int) user.now + 5);
        assertEquals(StoreStatus.STORED, user.store("key", "a", 0, rule));
        assertEquals(StoreStatus.STORED, user.store("key", "b", 0, rule));
        assertEquals("ab", user.get("key"));
        user.now += 5;
        assertNull(user.get("key"));
    }

    @Test
    void shouldKillAndForwardTheItemThatIsRewritten() {
        user.set("key", "a");
        Locator old = user.locator("key");
        user.store("key", "b", 0, APPEND);
        Locator fresh = user.locator("key");
        assertNotNull(old);
        assertNotNull(fresh);
        MemorySegment memory = arenas.memory(old.rkey());
        assertNotEquals(old.offset(), fresh.offset());
        assertEquals(old.generation() + 1, ItemDescriptor.generation(memory, old.offset()));
        assertEquals(fresh.second(), ItemDescriptor.forwardSecond(memory, old.offset()));
        assertTrue(user.last != null && user.last.locator().equals(fresh));
    }

    @Test
    void shouldMarkStaleWhatIsStoredWithAnOlderCasNumber() {
        user.store("key", "1", (int) user.now + 9, new StoreRule().newCas(100));
        StoreRule older = new StoreRule().reset(StoreMode.CAS).compareCas(99).staleIfOlder(true);
        assertEquals(StoreStatus.STORED, user.store("key", "2", 0, older));
        store.get(new KeySlice(StoreUser.bytes("key")), user.now, false, item -> {
            assertTrue(item.isStale());
            assertEquals(user.now + 9, item.expiry());
        });
        StoreRule newer =
                new StoreRule().reset(StoreMode.CAS).compareCas(1L << 40).staleIfOlder(true);
        assertEquals(StoreStatus.EXISTS, user.store("key", "3", 0, newer));
    }

    @Test
    void shouldFlushEverything() {
        for (int i = 0; i < 5000; i++) {
            user.set("key" + i, "value");
        }
        Locator one = user.locator("key77");
        store.flush();
        assertEquals(0, store.statistics().currentItems());
        assertEquals(0, store.statistics().currentBytes());
        assertEquals(5000, store.classStatistics(user.now).getFirst().events().reclaimed());
        assertNotNull(one);
        assertEquals(one.generation() + 1, ItemDescriptor.generation(arenas.memory(one.rkey()), one.offset()));
        for (int i = 0; i < 5000; i++) {
            assertNull(user.get("key" + i));
        }
        assertEquals(StoreStatus.STORED, user.set("key1", "value"));
    }

    @Test
    void shouldReclaimExpiredItemsThatNobodyAsksFor() {
        for (int i = 0; i < 3000; i++) {
            user.store("key" + i, "value", i % 3 == 0 ? 0 : (int) user.now + 1, new StoreRule());
        }
        for (int part = 0; part < store.parts(); part++) {
            store.reclaim(part, user.now);
        }
        assertEquals(3000, store.statistics().currentItems());
        for (int part = 0; part < store.parts(); part++) {
            store.reclaim(part, user.now + 1);
        }
        assertEquals(1000, store.statistics().currentItems());
        assertEquals("value", user.get("key0"));
    }

    @Test
    void shouldCountEachOfManyConcurrentRewrites() throws Exception {
        user.set("counter", "0");
        ItemRewriter plusOne = new PlusOne();
        int threads = 4;
        int rounds = 5000;
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                StoreUser own = new StoreUser(store);
                done.add(executor.submit(() -> {
                    for (int round = 0; round < rounds; round++) {
                        assertEquals(StoreStatus.STORED, own.rewrite("counter", plusOne));
                    }
                }));
            }
            for (Future<?> each : done) {
                each.get();
            }
        }
        assertEquals(Integer.toString(threads * rounds), user.get("counter"));
        assertEquals(1, store.statistics().currentItems());
    }

    @Test
    void shouldAgreeWithMapOnRandomChanges() {
        long seed = Long.getLong("softrdma.seed", 20_261_122);
        Random random = new Random(seed);
        Map<String, String> model = new HashMap<>();
        StoreRule rule = new StoreRule();
        for (int step = 0; step < 60_000; step++) {
            String message = "softrdma.seed=" + seed + " step=" + step;
            String key = "key" + random.nextInt(200);
            String value = "v" + random.nextInt(1000);
            String there = model.get(key);
            boolean present = there != null;
            switch (random.nextInt(8)) {
                case 0 -> {
                    assertEquals(StoreStatus.STORED, user.set(key, value), message);
                    model.put(key, value);
                }
                case 1 -> {
                    StoreStatus expected = present ? StoreStatus.NOT_STORED : StoreStatus.STORED;
                    assertEquals(expected, user.store(key, value, 0, rule.reset(StoreMode.ADD)), message);
                    model.putIfAbsent(key, value);
                }
                case 2 -> {
                    StoreStatus expected = present ? StoreStatus.STORED : StoreStatus.NOT_STORED;
                    assertEquals(expected, user.store(key, value, 0, rule.reset(StoreMode.REPLACE)), message);
                    model.replace(key, value);
                }
                case 3 -> {
                    StoreStatus expected = present ? StoreStatus.STORED : StoreStatus.NOT_STORED;
                    assertEquals(expected, user.store(key, value, 0, rule.reset(StoreMode.APPEND)), message);
                    model.computeIfPresent(key, (k, old) -> old + value);
                }
                case 4 -> {
                    StoreStatus expected = present ? StoreStatus.STORED : StoreStatus.NOT_STORED;
                    assertEquals(expected, user.store(key, value, 0, rule.reset(StoreMode.PREPEND)), message);
                    model.computeIfPresent(key, (k, old) -> value + old);
                }
                case 5 -> {
                    boolean right = random.nextBoolean();
                    long cas = user.cas(key) + (right ? 0 : 1);
                    StoreStatus expected =
                            !present ? StoreStatus.NOT_FOUND : right ? StoreStatus.STORED : StoreStatus.EXISTS;
                    assertEquals(expected, user.store(key, value, 0, cas(cas)), message);
                    if (expected == StoreStatus.STORED) {
                        model.put(key, value);
                    }
                }
                case 6 -> {
                    assertEquals(present ? StoreStatus.STORED : StoreStatus.NOT_FOUND, user.delete(key), message);
                    model.remove(key);
                }
                default -> assertEquals(there, user.get(key), message);
            }
            assertEquals(model.size(), store.statistics().currentItems(), message);
        }
        assertFalse(model.isEmpty());
    }

    private static StoreRule cas(long number) {
        return new StoreRule().reset(StoreMode.CAS).compareCas(number);
    }

    /** Adds one to decimal digits. Shared by threads: keeps nothing. */
    private static class PlusOne implements ItemRewriter {
        @Override
        public int measure(StoredItem old) {
            return Integer.toString(Integer.parseInt(StoreUser.value(old)) + 1).length();
        }

        @Override
        public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
            byte[] digits = old.asSlice(oldOffset, oldLength).toArray(ValueLayout.JAVA_BYTE);
            byte[] next = StoreUser.bytes(Integer.toString(
                    Integer.parseInt(new String(digits, java.nio.charset.StandardCharsets.US_ASCII)) + 1));
            MemorySegment.copy(next, 0, target, ValueLayout.JAVA_BYTE, offset, next.length);
        }
    }

    /** With a choice of marks. */
    private static final class Marked extends PlusOne {
        private final Marks marks;

        Marked(Marks marks) {
            this.marks = marks;
        }

        @Override
        public Marks marks() {
            return marks;
        }
    }
}
