package org.softrdma.kv.client.place;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LocatorCacheTest {
    @Test
    void shouldFindWhatWasPut() {
        LocatorCache cache = new LocatorCache(100);
        assertEquals(128, cache.capacity());
        cache.put(5, 50, 51);
        int entry = cache.find(5);
        assertEquals(50, cache.first(entry));
        assertEquals(51, cache.second(entry));
        cache.put(5, 52, 53);
        assertEquals(52, cache.first(cache.find(5)));
        assertEquals(1, cache.size());
        cache.remove(5, 50, 51);
        assertNotEquals(LocatorCache.NONE, cache.find(5), "the entry is another one by now");
        cache.remove(5, 52, 53);
        assertEquals(LocatorCache.NONE, cache.find(5));
        assertEquals(0, cache.size());
    }

    @Test
    void shouldKeepWhatIsUsedWhenSetIsFull() {
        LocatorCache cache = new LocatorCache(8);
        for (int hash = 1; hash <= 8; hash++) {
            cache.put(hash, hash, hash);
        }
        for (int i = 9; i < 1000; i++) {
            cache.find(3);
            cache.put(i, i, i);
            assertEquals(8, cache.size());
            assertNotEquals(LocatorCache.NONE, cache.find(3), "step " + i);
            assertNotEquals(LocatorCache.NONE, cache.find(i), "step " + i);
        }
    }

    @Test
    void shouldUseTheSecondSetOfAKeyBeforeAnythingGoes() {
        LocatorCache cache = new LocatorCache(16);
        long first = 0x1_0000_0002L; // first set 0, second set 1
        for (int i = 0; i < 16; i++) {
            cache.put(first + 2L * i, i, -i);
        }
        assertEquals(16, cache.size());
        for (int i = 0; i < 16; i++) {
            assertEquals(i, cache.first(cache.find(first + 2L * i)), "key " + i);
        }
        cache.remove(first); // of the first set: the second one is still looked at
        assertEquals(15, cache.first(cache.find(first + 30)));
        cache.put(first + 30, 100, 101);
        assertEquals(100, cache.first(cache.find(first + 30)));
        assertEquals(15, cache.size(), "a key has one entry");
        cache.put(first, 0, 0);
        cache.put(first + 32, 16, 16);
        assertEquals(16, cache.size(), "both sets are full: another one has gone");
        assertEquals(16, cache.first(cache.find(first + 32)));
    }

    @Test
    void shouldKeepANoteUntilThePlaceIsAnotherOne() {
        LocatorCache cache = new LocatorCache(8);
        cache.put(1, 10, 11);
        int entry = cache.find(1);
        int other = (entry + 1) % cache.capacity();
        assertEquals(0, cache.note(entry));
        cache.note(entry, 99);
        cache.put(1, 10, 11);
        assertEquals(99, cache.note(cache.find(1)), "it is the same place");
        for (int likely : new int[] {entry, other}) {
            assertEquals(entry, cache.entryOf(likely, 1, 10, 11));
            assertEquals(LocatorCache.NONE, cache.entryOf(likely, 2, 10, 11), "another key");
            assertEquals(LocatorCache.NONE, cache.entryOf(likely, 1, 12, 11), "another place");
            assertEquals(LocatorCache.NONE, cache.entryOf(likely, 1, 10, 13), "another life of the place");
        }
        cache.put(1, 12, 13);
        assertEquals(0, cache.note(cache.entryOf(entry, 1, 12, 13)));
    }

    @Test
    void shouldNeverTellWrongPlace() {
        long seed = Long.getLong("softrdma.seed", 11);
        Random random = new Random(seed);
        LocatorCache cache = new LocatorCache(64);
        Map<Long, Long> last = new HashMap<>();
        for (int step = 0; step < 50_000; step++) {
            long hash = (1L + random.nextInt(200)) * 0x9E37_79B9_7F4A_7C15L; // two sets that differ
            if (random.nextInt(4) == 0) {
                cache.remove(hash);
                last.remove(hash);
            } else if (random.nextBoolean()) {
                cache.put(hash, step, -step);
                last.put(hash, (long) step);
            }
            int entry = cache.find(hash);
            if (entry != LocatorCache.NONE) {
                assertEquals(last.get(hash), cache.first(entry), "softrdma.seed=" + seed + " step=" + step);
                assertEquals(-cache.first(entry), cache.second(entry));
            }
        }
        assertTrue(cache.size() > 32);
    }
}
