package org.softrdma.farm.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.Outcome;

/**
 * READs of two neighbours with a whole change between the two, in either order: a key that is there before and after
 * the change is found, or the lookup begins again because the joint versions differ.
 */
class NeighbourHoleTest {
    private static final int OPERATIONS = 600;
    private static final int VALUE = 8;

    private final Map<Integer, byte[]> before = new HashMap<>();
    private final Map<Integer, byte[]> after = new HashMap<>();
    private int restarts;

    private void change(TestTable table, RandomGenerator random, int keys, int operation) {
        int number = random.nextInt(keys);
        byte[] value = TestTable.valueOf(operation, VALUE);
        if (random.nextInt(8) < 4) {
            assertTrue(table.put(TestTable.keyOf(number), value) == Outcome.STORED);
            after.put(number, value);
        } else {
            Outcome ignored = table.remove(TestTable.keyOf(number));
            after.remove(number);
        }
    }

    private void look(TestTable table, MemorySegment first, MemorySegment second) {
        for (Map.Entry<Integer, byte[]> pair : after.entrySet()) {
            byte[] old = before.get(pair.getKey());
            if (old == pair.getValue()) {
                try {
                    assertArrayEquals(old, table.get(TestTable.keyOf(pair.getKey()), first, second));
                } catch (TestTable.Restart e) {
                    restarts++;
                }
            }
        }
    }

    private void race(TestTable table, int keys, long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        restarts = 0;
        before.clear();
        after.clear();
        for (int operation = 0; operation < OPERATIONS; operation++) {
            MemorySegment old = table.snapshot();
            before.clear();
            before.putAll(after);
            change(table, random, keys, operation);
            look(table, old, table.snapshot());
            look(table, table.snapshot(), old);
        }
        assertTrue(restarts > 0, "no change has touched two buckets");
    }

    @Test
    void shouldMissNoKeyThatMovesBetweenNeighbours() {
        race(new TestTable(TestTable.inline(2, VALUE, true, 6), 1 << 13, 1024), 9, 1);
        race(new TestTable(TestTable.inline(4, VALUE, false, 4), 1 << 13, 1024), 12, 2);
        race(new TestTable(TestTable.outline(2, true, 6), 1 << 14, 1024), 9, 3);
    }
}
