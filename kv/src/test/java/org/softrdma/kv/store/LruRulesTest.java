package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.KeySlice;

/** What {@code lru tune}, {@code lru mode} and {@code lru temp_ttl} change, seen in what is evicted. */
class LruRulesTest {
    private static final String VALUE = "v".repeat(10_000);
    private static final int ITEMS = 100;

    private final ItemStore store = store();
    private final StoreUser user = new StoreUser(store);

    private static ItemStore store() {
        SlabGeometry geometry =
                new SlabGeometry(SlabGeometry.DEFAULT_FACTOR, SlabGeometry.DEFAULT_MINIMUM_SPACE, 1 << 20);
        return new ItemStore(new SlabAllocator(geometry, new PlainArenas(), 2 << 20), 1, true);
    }

    private SizeClassStatistics.Lru lru() {
        return store.classStatistics(user.now).getFirst().lru();
    }

    private void fill(String name) {
        for (int i = 0; i < ITEMS; i++) {
            user.set(name + i, VALUE);
        }
    }

    @Test
    void shouldHoldInHotWhatTheRulesSay() {
        store.lru().tune(60, 10, 1, 1);
        fill("a");
        assertEquals(60, lru().hot().items());
        store.lru().tune(5, 10, 1, 1);
        fill("b");
        assertTrue(lru().hot().items() <= 9, () -> "hot=" + lru().hot().items());
    }

    @Test
    void shouldMoveOnWhatIsIdleForLongerThanItsPartOfTheAgeOfCold() {
        fill("a");
        user.now += 100; // COLD is 100 seconds old, and what is in HOT as well
        store.reclaimTails(user.now);
        assertEquals(0, lru().hot().items());
        assertEquals(ITEMS, lru().cold().items());

        store.lru().tune(20, 40, 1000, 1000);
        fill("b");
        long hot = lru().hot().items();
        assertTrue(hot > 10, "hot=" + hot);
        user.now += 100;
        store.reclaimTails(user.now);
        assertEquals(hot, lru().hot().items());
    }

    @Test
    void shouldHaveOneListWhereItIsFlat() {
        store.lru().segmented(false);
        fill("a");
        assertEquals(ITEMS, lru().cold().items());
        user.get("a0");
        user.now += 61;
        user.get("a0"); // goes to the head, as what was asked for last
        List<String> order = new ArrayList<>();
        store.walk()
                .cold(
                        store.classStatistics(user.now).getFirst().sizeClass(),
                        item -> order.add(new String(item.key(), StandardCharsets.US_ASCII)));
        assertEquals("a0", order.getFirst());
        assertEquals("a1", order.getLast());
        store.lru().segmented(true);
        user.set("b", VALUE);
        assertEquals(1, lru().hot().items());
    }

    @Test
    void shouldEvictNoneOfAShortLifeWhereTheyAreKeptApart() {
        store.lru().temporaryTtl(60);
        for (int i = 0; i < 10; i++) {
            user.store("short" + i, VALUE, (int) user.now + 60, new StoreRule());
            user.store("long" + i, VALUE, (int) user.now + 61, new StoreRule());
        }
        assertEquals(10, lru().temporary().items());
        for (int round = 0; round < 10; round++) {
            fill("more" + round);
        }
        for (int i = 0; i < 10; i++) {
            assertNotNull(user.get("short" + i));
            assertNull(user.get("long" + i));
        }
        store.lru().temporaryLikeOthers();
        user.store("short", VALUE, (int) user.now + 60, new StoreRule());
        assertEquals(10, lru().temporary().items());
        user.now += 60;
        store.reclaimTails(user.now);
        assertEquals(0, lru().temporary().items());
    }

    @Test
    void shouldCountHitsByTheListThatTheItemIsIn() {
        user.set("a", VALUE);
        store.get(new KeySlice(StoreUser.bytes("a")), user.now, true, StoredItem::countHit);
        store.lru().segmented(false);
        user.set("b", VALUE);
        store.get(new KeySlice(StoreUser.bytes("b")), user.now, true, StoredItem::countHit);
        assertEquals(1, lru().hot().hits());
        assertEquals(1, lru().cold().hits());
        assertEquals(2, lru().hits());
        store.resetStatistics();
        assertEquals(0, lru().hits());
    }

    @Test
    void shouldTellOfEvictedItemsBeforeTheyGo() {
        List<String> evicted = new ArrayList<>();
        store.onEviction(item -> evicted.add(new String(item.key(), StandardCharsets.US_ASCII)));
        for (int i = 0; evicted.isEmpty(); i++) {
            user.set("key" + i, VALUE);
        }
        assertEquals(List.of("key0"), evicted);
        assertEquals(1, store.classStatistics(user.now).getFirst().events().directReclaims());
    }

    @Test
    void shouldRefuseRulesThatLeaveNothingForCold() {
        assertThrows(IllegalArgumentException.class, () -> store.lru().tune(41, 40, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> store.lru().tune(1, 1, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> store.lru().tune(-1, 1, 1, 1));
    }
}
