package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.KeyHash;
import org.softrdma.kv.item.KeySlice;

class HashIndexTest {
    @Test
    void shouldAgreeWithMapWhenHashesCollide() {
        long seed = Long.getLong("softrdma.seed", 7);
        Random random = new Random(seed);
        HashIndex index = new HashIndex();
        Map<Long, Long> model = new HashMap<>();
        for (int step = 0; step < 100_000; step++) {
            long hash = 1L + (random.nextInt(40) << 12 | random.nextInt(8)); // long runs that cross each other
            int slot = index.find(hash);
            String message = "softrdma.seed=" + seed + " step=" + step + " hash=" + hash;
            assertEquals(model.containsKey(hash), slot != HashIndex.NONE, message);
            if (slot == HashIndex.NONE) {
                index.insert(hash, step + 1L);
                model.put(hash, step + 1L);
            } else if (random.nextBoolean()) {
                assertEquals(model.remove(hash), index.chunk(slot), message);
                index.remove(slot);
            } else {
                index.replace(slot, -step - 1L);
                model.put(hash, -step - 1L);
            }
            assertEquals(model.size(), index.size(), message);
        }
        model.forEach((hash, chunk) -> assertEquals(chunk, index.chunk(index.find(hash))));
    }

    @Test
    void shouldFindEveryEntryOfOneHash() {
        HashIndex index = new HashIndex();
        for (int chunk = 1; chunk <= 5; chunk++) {
            index.insert(9, chunk);
        }
        List<Long> found = new ArrayList<>();
        for (int slot = index.find(9); slot != HashIndex.NONE; slot = index.findNext(slot, 9)) {
            found.add(index.chunk(slot));
        }
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L), found);
    }

    @Test
    void shouldHashEveryByteOfKey() {
        byte[] key = new byte[40];
        long whole = KeyHash.hash(new KeySlice(key), 1);
        assertEquals(whole, KeyHash.hash(key, 1));
        for (int i = 0; i < key.length; i++) {
            key[i] = 1;
            assertNotEquals(whole, KeyHash.hash(new KeySlice(key), 1), "byte " + i);
            key[i] = 0;
            assertNotEquals(whole, KeyHash.hash(new KeySlice().wrap(key, 0, i), 1), "length " + i);
        }
        assertNotEquals(whole, KeyHash.hash(new KeySlice(key), 2));
    }
}
