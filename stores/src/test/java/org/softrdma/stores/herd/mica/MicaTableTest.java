package org.softrdma.stores.herd.mica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.hash.SeededHash;
import org.softrdma.stores.herd.part.HerdPart;

/** A table against a map that is told which pairs are evicted, and against the order of age that eviction has to keep. */
class MicaTableTest {
    private static final int LOG = 1 << 10;

    /** Key and 8 bytes of value: a pair of 24 bytes. */
    private static final int KEY = 8;

    private final Deque<Long> evicted = new ArrayDeque<>();
    private final MicaWatcher watcher = new MicaWatcher() {
        @Override
        public void appended(MicaPairs pairs, long position) {
            // Looked at by the tests themselves.
        }

        @Override
        public void evicted(MicaPairs pairs, long position) {
            evicted.add(pairs.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, pairs.keyAt(position)));
        }

        @Override
        public void removed(MicaPairs pairs, long position) {
            assertTrue(((MicaTable) pairs).holds(position));
        }
    };

    private MicaTable table;

    @BeforeEach
    void make() {
        table = new MicaTable(0, LOG, watcher);
    }

    private static MemorySegment bytes(long key, int valueLength) {
        ByteBuffer bytes = ByteBuffer.allocate(KEY + valueLength).order(ByteOrder.nativeOrder());
        bytes.putLong(key);
        while (bytes.hasRemaining()) {
            bytes.put((byte) (key + valueLength));
        }
        return MemorySegment.ofArray(bytes.array());
    }

    private static long hash(long key) {
        return SeededHash.of(bytes(key, 0), 0, KEY, 1);
    }

    private static void put(MicaTable table, long key, int valueLength) {
        table.put(bytes(key, valueLength), 0, KEY, hash(key), KEY, valueLength);
    }

    private void put(long key, int valueLength) {
        put(table, key, valueLength);
    }

    private long find(long key) {
        return table.find(bytes(key, 0), 0, KEY, hash(key));
    }

    private boolean remove(long key) {
        return table.remove(bytes(key, 0), 0, KEY, hash(key));
    }

    private int valueLength(long key) {
        long position = find(key);
        assertTrue(position != MicaTable.NONE, "key " + key);
        int length = table.valueLength(position);
        for (int i = 0; i < length; i++) {
            byte one = table.memory().get(ValueLayout.JAVA_BYTE, table.valueAt(position) + i);
            assertEquals((byte) (key + length), one, "key " + key + " byte " + i);
        }
        return length;
    }

    @Test
    void shouldFindWhatWasPutAndNothingElse() {
        put(1, 10);
        put(2, 0);
        assertEquals(10, valueLength(1));
        assertEquals(0, valueLength(2));
        assertEquals(MicaTable.NONE, find(3));
        put(1, 60);
        assertEquals(60, valueLength(1));
        assertEquals(2, table.pairs());
        assertTrue(remove(1));
        assertFalse(remove(1));
        assertEquals(MicaTable.NONE, find(1));
        assertEquals(KEY, table.dataBytes());
        assertEquals(16 + 8, table.usedBytes());
    }

    /** Two keys with the same bucket and tag. */
    @Test
    void shouldCompareTheKey() {
        table.put(bytes(1, 1), 0, KEY, 77, KEY, 1);
        assertEquals(MicaTable.NONE, table.find(bytes(2, 0), 0, KEY, 77));
        assertFalse(table.remove(bytes(2, 0), 0, KEY, 77));
        table.put(bytes(2, 2), 0, KEY, 77, KEY, 2);
        assertEquals(1, table.valueLength(table.find(bytes(1, 0), 0, KEY, 77)));
        assertEquals(2, table.valueLength(table.find(bytes(2, 0), 0, KEY, 77)));
    }

    /** The published search takes a later free entry although the key has one: the key is there twice, and comes back. */
    @Test
    void shouldHaveAKeyOnceAlthoughAnEntryBeforeItIsFree() {
        put(1, 8);
        put(2, 8);
        put(3, 8);
        assertTrue(remove(1));
        put(2, 30);
        assertEquals(2, table.pairs());
        assertEquals(30, valueLength(2));
        assertTrue(remove(2));
        assertEquals(MicaTable.NONE, find(2));
    }

    @Test
    void shouldWriteAPairOfTheSameLengthWhereItWas() {
        put(1, 8);
        long position = find(1);
        put(1, 7); // as long, in multiples of 8
        assertEquals(position, find(1));
        assertEquals(7, valueLength(1));
        put(1, 9);
        assertTrue(find(1) > position);
    }

    @Test
    void shouldEvictTheOldestOfAFullBucket() {
        for (long key = 1; key <= MicaTable.WAYS; key++) {
            put(key, 8);
        }
        put(1, 16); // is the youngest now
        put(100, 8);
        assertEquals(Long.valueOf(2), evicted.poll());
        put(101, 8);
        assertEquals(Long.valueOf(3), evicted.poll());
        assertEquals(MicaTable.NONE, find(2));
        assertEquals(16, valueLength(1));
        assertEquals(MicaTable.WAYS, table.pairs());
    }

    /** 42 pairs of 24 bytes fit, and 16 bytes are left at the end. */
    @Test
    void shouldForgetTheOldestWhenTheLogIsFullAndNotBefore() {
        MicaTable many = new MicaTable(6, LOG, watcher);
        int fit = LOG / 24;
        for (long key = 0; key < fit; key++) {
            put(many, key, 8);
        }
        assertEquals(fit, many.pairs() + evicted.size());
        long first = many.find(bytes(0, 0), 0, KEY, hash(0));
        assertEquals(0, first);
        put(many, fit, 8); // skips the end
        assertFalse(many.holds(first));
        assertEquals(MicaTable.NONE, many.find(bytes(0, 0), 0, KEY, hash(0)));
        assertTrue(many.find(bytes(1, 0), 0, KEY, hash(1)) != MicaTable.NONE || !evicted.isEmpty());
        for (long key = fit + 1L; key < 10L * fit; key++) {
            put(many, key, 8);
            long oldest = key - fit + 1;
            for (long old = oldest + 1; old <= key; old++) {
                boolean there = many.find(bytes(old, 0), 0, KEY, hash(old)) != MicaTable.NONE;
                assertTrue(there || evicted.contains(old), "key " + old + " after " + key);
            }
            assertEquals(MicaTable.NONE, many.find(bytes(oldest - 1, 0), 0, KEY, hash(oldest - 1)));
        }
    }

    /** A log whose pairs fill it exactly: nothing is skipped. */
    @Test
    void shouldHoldAsMuchAsTheLogIsLongAndNoByteMore() {
        MicaTable many = new MicaTable(6, LOG, watcher);
        for (long key = 0; key < 32; key++) {
            put(many, key, 16); // 32 bytes
        }
        assertTrue(many.holds(0));
        assertEquals(32, many.pairs() + evicted.size());
        put(many, 32, 16);
        assertFalse(many.holds(0));
        assertTrue(many.holds(32));
    }

    @Test
    void shouldDoAsAMapThatLosesWhatIsEvicted() {
        Random random = new Random(1);
        MicaTable some = new MicaTable(2, 1 << 12, watcher);
        Map<Long, Integer> lengths = new HashMap<>();
        Map<Long, Long> positions = new LinkedHashMap<>();
        for (int i = 0; i < 50_000; i++) {
            long key = random.nextInt(60);
            switch (random.nextInt(4)) {
                case 0 ->
                    assertEquals(
                            lengths.remove(key) != null, some.remove(bytes(key, 0), 0, KEY, hash(key)), "step " + i);
                case 1, 2 -> {
                    int length = random.nextInt(200);
                    put(some, key, length);
                    lengths.put(key, length);
                    positions.put(key, some.find(bytes(key, 0), 0, KEY, hash(key)));
                    while (!evicted.isEmpty()) {
                        lengths.remove(evicted.remove());
                    }
                    lengths.keySet().removeIf(other -> !some.holds(positions.getOrDefault(other, MicaTable.NONE)));
                }
                default -> {
                    long position = some.find(bytes(key, 0), 0, KEY, hash(key));
                    Integer length = lengths.get(key);
                    assertEquals(length != null, position != MicaTable.NONE, "step " + i + " key " + key);
                    if (length != null) {
                        assertEquals(length, some.valueLength(position));
                    }
                }
            }
            assertEquals(lengths.size(), some.pairs(), "step " + i);
        }
    }

    /** The index keeps 40 bits of a position: positions beyond that are no others. */
    @Test
    void shouldGoOnWhereThePositionsInTheIndexComeAgain() {
        long wrap = 1L << 43;
        table = new MicaTable(0, new MicaLog(LOG, wrap - LOG), Long.MAX_VALUE - wrap, watcher);
        for (long key = 1; key < 200; key++) {
            put(key, 8);
            assertEquals(8, valueLength(key));
            assertTrue(table.pairs() <= MicaTable.WAYS);
        }
        assertTrue(find(199) > wrap);
    }

    @Test
    void shouldForgetEntriesOfLostPairsBeforeTheirPositionsComeAgain() {
        table = new MicaTable(6, new MicaLog(LOG, 0), 4L * LOG, watcher);
        for (long key = 0; key < 100; key++) {
            put(key, 8);
        }
        assertTrue(table.usedEntries() > table.pairs());
        boolean swept = false;
        for (long key = 100; key < 174; key++) {
            put(key, 8); // 4 KiB in all, with what is skipped
            swept |= table.usedEntries() == table.pairs();
        }
        assertTrue(swept);
    }

    @Test
    void shouldTouchWhatFindingAKeyReads() {
        assertEquals(0, table.touchIndex(hash(1)));
        put(1, 8);
        long ofOne = table.touchIndex(hash(1));
        assertNotEquals(0, ofOne);
        assertEquals(KEY, table.touchPairs(hash(1)));
        assertEquals(0, table.touchPairs(hash(2)), "no pair has its tag");
        for (int key = 2; key <= MicaTable.WAYS; key++) {
            put(key, 8);
        }
        assertNotEquals(ofOne, table.touchIndex(hash(1)), "a bucket lies in two cache lines");
        assertEquals(KEY, table.touchPairs(hash(MicaTable.WAYS)));
        assertTrue(remove(1));
        assertEquals(0, table.touchPairs(hash(1)));
    }

    @Test
    void shouldBeLargeOnceItsPairsHaveMoreThanACache() {
        MicaTable filling = new MicaTable(4, (int) (2 * HerdPart.LARGE), MicaWatcher.NONE);
        int length = 1 << 16;
        for (long appended = 0; appended < HerdPart.LARGE - length; appended += length) {
            assertFalse(filling.isLarge());
            put(filling, appended, length - KEY - 8);
        }
        put(filling, -1, length);
        assertTrue(filling.isLarge());
    }
}
