package org.softrdma.stores.herd.sd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.hash.SeededHash;
import org.softrdma.stores.herd.part.HerdPart;

/** A table against a map, also where it is full; and an entry by its bytes. */
class NessieSdTableTest {
    private static final int KEY = 16;
    private static final int VALUE = 40;
    private static final int ENTRY = 128;
    private static final int LOG = 6;

    private static long hash(MemorySegment pair, int keyLength) {
        return SeededHash.of(pair, 0, keyLength, 1);
    }

    private static MemorySegment pair(String key, byte[] value) {
        byte[] bytes = Arrays.copyOf(key.getBytes(StandardCharsets.US_ASCII), key.length() + value.length);
        System.arraycopy(value, 0, bytes, key.length(), value.length);
        return MemorySegment.ofArray(bytes);
    }

    private static boolean put(NessieSdTable table, String key, byte[] value) {
        MemorySegment pair = pair(key, value);
        return table.put(pair, 0, key.length(), hash(pair, key.length()), key.length(), value.length);
    }

    private static boolean remove(NessieSdTable table, String key) {
        MemorySegment pair = pair(key, new byte[0]);
        return table.remove(pair, 0, key.length(), hash(pair, key.length()));
    }

    private static void requireSame(NessieSdTable table, Map<String, byte[]> model, String what) {
        long bytes = 0;
        for (Map.Entry<String, byte[]> entry : model.entrySet()) {
            String key = entry.getKey();
            MemorySegment pair = pair(key, new byte[0]);
            long position = table.find(pair, 0, key.length(), hash(pair, key.length()));
            assertTrue(position != HerdPart.NONE, () -> what + ": " + key + " is not there");
            assertEquals(
                    HexFormat.of().formatHex(entry.getValue()),
                    HexFormat.of()
                            .formatHex(table.memory()
                                    .asSlice(table.valueAt(position), table.valueLength(position))
                                    .toArray(ValueLayout.JAVA_BYTE)),
                    what + ": " + key);
            bytes += key.length() + entry.getValue().length;
        }
        assertEquals(model.size(), table.pairs(), what);
        assertEquals(bytes, table.dataBytes(), what);
        assertEquals(model.size() * (ENTRY + 4L), table.usedBytes(), what);
    }

    /** More keys than entries: what is refused changes nothing, and nothing is refused while there is room for it. */
    @Test
    void shouldDoAsAMapWhetherItIsFullOrNot() {
        NessieSdTable table = new NessieSdTable(LOG + 1, LOG, 3, KEY, VALUE);
        Map<String, byte[]> model = new HashMap<>();
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            String key = "key" + random.nextInt(2 << LOG);
            if (random.nextInt(3) == 0) {
                assertEquals(model.remove(key) != null, remove(table, key), "step " + i);
            } else {
                byte[] value = new byte[random.nextInt(VALUE + 1)];
                random.nextBytes(value);
                if (put(table, key, value)) {
                    model.put(key, value);
                } else {
                    assertEquals(1 << LOG, model.size(), "step " + i + " was refused");
                    assertFalse(model.containsKey(key), "step " + i + ": a pair that is there has room");
                    refused++;
                }
            }
            requireSame(table, model, "step " + i);
        }
        assertTrue(refused > 100, refused + " refused");
        assertEquals((4L << (LOG + 1)) + ((long) ENTRY << LOG), table.allBytes());
    }

    /** As many words as entries: a cuckoo table of three ways fills to nine tenths before the first key has no word. */
    @Test
    void shouldMovePairsToMakeRoom() {
        NessieSdTable table = new NessieSdTable(10, 10, 3, KEY, 0);
        Map<String, byte[]> model = new HashMap<>();
        while (put(table, "key" + model.size(), new byte[0])) {
            model.put("key" + model.size(), new byte[0]);
        }
        assertTrue(model.size() > 0.88 * 1024, model.size() + " of 1024");
        for (String key : model.keySet()) {
            MemorySegment pair = pair(key, new byte[0]);
            assertTrue(table.find(pair, 0, key.length(), hash(pair, key.length())) != HerdPart.NONE, key);
        }
    }

    /** Keys of one hash are told apart. */
    @Test
    void shouldBelieveTheKeyAndNotItsHash() {
        NessieSdTable table = new NessieSdTable(LOG, LOG, 2, KEY, VALUE);
        for (String key : new String[] {"one", "two"}) {
            assertTrue(table.put(pair(key, new byte[3]), 0, 3, 42, 3, 3));
        }
        assertEquals(2, table.pairs());
        assertTrue(table.find(pair("one", new byte[0]), 0, 3, 42) != table.find(pair("two", new byte[0]), 0, 3, 42));
        assertEquals(HerdPart.NONE, table.find(pair("six", new byte[0]), 0, 3, 42));
        assertFalse(table.put(pair("six", new byte[0]), 0, 3, 42, 3, 0), "both words of the hash are in use");
        assertTrue(table.remove(pair("two", new byte[0]), 0, 3, 42));
        assertTrue(table.put(pair("six", new byte[0]), 0, 3, 42, 3, 0));
    }

    @Test
    void shouldLayOutAnEntry() {
        NessieSdTable table = new NessieSdTable(LOG, LOG, 2, KEY, VALUE);
        MemorySegment pair = pair("key", "value!".getBytes(StandardCharsets.US_ASCII));
        assertTrue(table.put(pair, 0, 3, 0x1122_3344_5566_7788L, 3, 6));
        assertEquals(
                "8877665544332211" + "03000000" + "06000000" + "6b6579" + "76616c756521",
                HexFormat.of().formatHex(table.memory().asSlice(0, 25).toArray(ValueLayout.JAVA_BYTE)));
    }

    @Test
    void shouldRefuseTablesThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new NessieSdTable(27, 1, 2, KEY, VALUE));
        assertThrows(IllegalArgumentException.class, () -> new NessieSdTable(1, -1, 2, KEY, VALUE));
    }

    @Test
    void shouldTouchWhatFindingAKeyReads() {
        NessieSdTable table = new NessieSdTable(10, 10, 3, KEY, VALUE);
        long empty = table.touchIndex(42);
        assertEquals(0, table.touchPairs(42));
        assertTrue(table.put(pair("key", new byte[3]), 0, 3, 42, 3, 3));
        assertNotEquals(empty, table.touchIndex(42));
        assertEquals(42, table.touchPairs(42), "the hash at the beginning of its entry");
        assertTrue(table.remove(pair("key", new byte[0]), 0, 3, 42));
        assertEquals(0, table.touchPairs(42));
    }

    @Test
    void shouldBeLargeOnceItsPairsHaveMoreThanACache() {
        NessieSdTable table = new NessieSdTable(6, 5, 3, KEY, (int) (HerdPart.LARGE / 16));
        for (int i = 0; i < 15; i++) {
            assertTrue(put(table, "key" + i, new byte[0]));
            assertFalse(table.isLarge(), i + " pairs");
        }
        assertTrue(put(table, "key15", new byte[0]));
        assertTrue(table.isLarge());
    }
}
