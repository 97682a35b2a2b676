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
    void shouldNeverTellWrongPlace() {
        long seed = Long.getLong("softrdma.seed", 11);
        Random random = new Random(seed);
        LocatorCache cache = new LocatorCache(64);
        Map<Long, Long> last = new HashMap<>();
        for (int step = 0; step < 50_000; step++) {
            long hash = 1L + random.nextInt(200);
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
