package org.softrdma.farm.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.Outcome;

/** The table against a map, by random operations on few buckets, so that chains grow and shrink. */
class TableModelTest {
    private static final int OPERATIONS = 20_000;
    private static final int VALUE = 24;

    private static void compare(TestTable table, int keys, boolean sameLengths, long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        Map<Integer, byte[]> model = new HashMap<>();
        int refused = 0;
        int longestChain = 0;
        for (int i = 0; i < OPERATIONS; i++) {
            int number = random.nextInt(keys);
            byte[] key = TestTable.keyOf(number);
            boolean growing = i / 2000 % 2 == 0;
            if (random.nextInt(10) < (growing ? 7 : 3)) {
                byte[] value = TestTable.valueOf(i, sameLengths ? VALUE : random.nextInt(300));
                Outcome outcome = table.put(key, value);
                if (outcome == Outcome.STORED) {
                    model.put(number, value);
                } else {
                    assertEquals(Outcome.FULL, outcome);
                    refused++;
                }
            } else {
                assertEquals(model.remove(number) == null ? Outcome.MISSING : Outcome.REMOVED, table.remove(key));
            }
            assertSame(model, table, random.nextInt(keys));
            longestChain = Math.max(
                    longestChain, table.chain(random.nextInt(table.shape().homes())));
        }
        assertEquals(model.size(), table.shard().pairs(), "seed " + seed);
        long data = model.values().stream()
                .mapToLong(value -> value.length + TestTable.KEY)
                .sum();
        assertEquals(data, table.shard().dataBytes(), "seed " + seed);
        for (int number = 0; number < keys; number++) {
            assertSame(model, table, number);
        }
        assertTrue(longestChain >= 2, "no long chain, seed " + seed);
        assertTrue(refused < OPERATIONS / 4, refused + " refused, seed " + seed);
    }

    private static void assertSame(Map<Integer, byte[]> model, TestTable table, int number) {
        byte[] expected = model.get(number);
        byte[] found = table.get(TestTable.keyOf(number));
        if (expected == null) {
            assertNull(found, "key " + number);
        } else {
            assertArrayEquals(expected, found, "key " + number);
        }
    }

    @Test
    void shouldBeAMapWithPairsInline() {
        for (int neighbourhood : new int[] {2, 4, 6, 8, 12}) {
            for (boolean checksums : new boolean[] {false, true}) {
                TestTable table = new TestTable(TestTable.inline(neighbourhood, VALUE, checksums, 12), 1 << 17, 1024);
                compare(table, 12 * neighbourhood, true, neighbourhood);
            }
        }
    }

    @Test
    void shouldBeAMapWithPairsOutside() {
        compare(new TestTable(TestTable.outline(6, true, 12), 1 << 18, 4096), 70, false, 1);
        compare(new TestTable(TestTable.outline(4, false, 12), 1 << 18, 4096), 50, false, 2);
    }

    /** The table must come back to the space it had, whatever was stored meanwhile. */
    @Test
    void shouldGiveBackAllSpaceOfRemovedPairs() {
        TestTable table = new TestTable(TestTable.outline(4, true, 16), 1 << 18, 4096);
        long empty = table.usedBytes();
        for (int round = 0; round < 20; round++) {
            for (int number = 0; number < 150; number++) {
                assertEquals(Outcome.STORED, table.put(TestTable.keyOf(number), TestTable.valueOf(round, 40 + round)));
            }
            for (int number = 0; number < 150; number++) {
                assertEquals(Outcome.REMOVED, table.remove(TestTable.keyOf(number * 7 % 150)));
            }
            assertEquals(empty, table.usedBytes());
        }
    }

    @Test
    void shouldRefuseWhatHasNoRoomAndKeepWhatIsThere() {
        TestTable table = new TestTable(TestTable.outline(4, true, 8), 1 << 14, 2048);
        int stored = 0;
        while (table.put(TestTable.keyOf(stored), TestTable.valueOf(stored, 100)) == Outcome.STORED) {
            stored++;
        }
        for (int number = 0; number < stored; number++) {
            assertArrayEquals(TestTable.valueOf(number, 100), table.get(TestTable.keyOf(number)));
        }
        assertEquals(stored, table.shard().pairs());
        assertEquals(Outcome.REMOVED, table.remove(TestTable.keyOf(0)));
        assertEquals(Outcome.STORED, table.put(TestTable.keyOf(1000), TestTable.valueOf(1000, 100)));
    }
}
