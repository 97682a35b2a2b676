package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.hash.ChecksumPair;
import org.softrdma.testkit.WeakMemory;

/** What holds of the memory of a table after every single step of every change. */
class PilafTableTest {
    private static final int LOG_ENTRIES = 5;
    private static final int EXTENTS = 1 << 13;
    private static final int KEYS = 28;

    private final MemorySegment entries =
            Arena.ofAuto().allocate((long) PilafEntryDescriptor.LENGTH << LOG_ENTRIES, PilafEntryDescriptor.LENGTH);
    private final MemorySegment extents = Arena.ofAuto().allocate(EXTENTS, BuddyExtents.ATOM);
    private final ChecksumPair checksum = new ChecksumPair();
    private final Set<String> settled = new HashSet<>();
    private final Map<PilafStep, Integer> seen = new HashMap<>();
    private int twice;
    private PilafTable table = table(new MemorySteps() {
        @Override
        public void step(Enum<?> point) {
            seen.merge((PilafStep) point, 1, Integer::sum);
            check(entries, extents);
        }
    });

    private PilafTable table(MemorySteps steps) {
        return new PilafTable(PilafHash.random(LOG_ENTRIES, new Random(8)), true, entries, extents, steps);
    }

    /** After every word, a peer looks whose machine shows stores in any order that fences allow. */
    private final class WeakSteps extends MemorySteps {
        private final WeakMemory memory = new WeakMemory(new Random(9), entries, extents);

        private final MemorySegment seenEntries = Arena.ofAuto().allocate(entries.byteSize(), Long.BYTES);
        private final MemorySegment seenExtents = Arena.ofAuto().allocate(extents.byteSize(), Long.BYTES);

        private void look() {
            memory.stored();
            memory.view(0, seenEntries);
            memory.view(1, seenExtents);
            check(seenEntries, seenExtents);
        }

        @Override
        public void step(Enum<?> point) {
            look();
        }

        @Override
        public void write(MemorySegment target, long offset, long word) {
            super.write(target, offset, word);
            look();
        }

        @Override
        public void copy(MemorySegment source, long from, MemorySegment target, long to, long length) {
            super.copy(source, from, target, to, length);
            look();
        }

        @Override
        public void fence() {
            memory.fence();
        }
    }

    /** Every whole entry names a whole pair, and every key that is not being changed is there, once or twice. */
    private void check(MemorySegment entries, MemorySegment extents) {
        Map<String, Integer> found = new HashMap<>();
        for (int at = 0; at < entries.byteSize(); at += PilafEntryDescriptor.LENGTH) {
            long header = PilafEntryDescriptor.header(entries, at);
            boolean whole = PilafEntryDescriptor.isWhole(entries, entries.asByteBuffer(), at, checksum);
            if (whole && PilafEntryDescriptor.isInUse(header)) {
                int extent = (int) PilafEntryDescriptor.extentOffset(entries, at);
                int length = PilafEntryDescriptor.extentLength(header);
                assertTrue(PilafExtentDescriptor.isValid(extents, extent, length), "the entry at " + at);
                assertEquals(
                        PilafEntryDescriptor.extentChecksum(entries, at),
                        checksum.of(extents.asByteBuffer(), extent, length),
                        "the entry at " + at + " is whole, and its extent is not");
                found.merge(keyOf(extents, extent), 1, Integer::sum);
            }
        }
        for (String key : settled) {
            int times = found.getOrDefault(key, 0);
            assertTrue(times == 1 || times == 2, key + " is in " + times + " entries");
            twice += times == 2 ? 1 : 0;
        }
    }

    private static String keyOf(MemorySegment extents, int extent) {
        byte[] key = new byte[PilafExtentDescriptor.keyLength(extents, extent)];
        MemorySegment.copy(
                extents, extent + (long) PilafExtentDescriptor.KEY_OFFSET, MemorySegment.ofArray(key), 0, key.length);
        return new String(key, StandardCharsets.US_ASCII);
    }

    private static byte[] pair(String key, String value) {
        return (key + value).getBytes(StandardCharsets.US_ASCII);
    }

    private PilafTable.Put put(String key, String value) {
        MemorySegment pair = MemorySegment.ofArray(pair(key, value));
        return table.put(pair, 0, key.length(), key.length(), value.length());
    }

    @Test
    void shouldNeverHideAPairNorShowHalfOfOne() {
        change(3000);
        assertTrue(seen.getOrDefault(PilafStep.MOVED, 0) > 20, "keys have moved: " + seen);
        assertTrue(twice > 20, "residents were in two entries: " + twice);
    }

    /** Each fence is needed: on a machine whose stores are visible in order, none of them would be missed. */
    @Test
    void shouldHideNothingWhereStoresAreVisibleInAnyOrderButForFences() {
        table = table(new WeakSteps());
        change(600);
        assertTrue(twice > 20, "residents were in two entries: " + twice);
    }

    private void change(int times) {
        Random random = new Random(2);
        Map<String, String> model = new HashMap<>();
        for (int i = 0; i < times; i++) {
            String key = "key" + random.nextInt(KEYS);
            settled.remove(key);
            if (random.nextInt(4) == 0) {
                MemorySegment name = MemorySegment.ofArray(pair(key, ""));
                assertEquals(model.remove(key) != null, table.remove(name, 0, key.length()));
            } else {
                String value = Integer.toString(i).repeat(random.nextInt(20));
                assertEquals(PilafTable.Put.STORED, put(key, value));
                model.put(key, value);
                settled.add(key);
            }
            check(entries, extents);
            assertEquals(model.size(), table.pairs());
            assertEquals(
                    model.entrySet().stream()
                            .mapToLong(entry ->
                                    entry.getKey().length() + entry.getValue().length())
                            .sum(),
                    table.dataBytes());
        }
    }

    @Test
    void shouldChangeNothingWhenThereIsNoRoom() {
        int stored = 0;
        PilafTable.Put put = put("k" + stored, "v".repeat(200));
        while (put == PilafTable.Put.STORED) {
            settled.add("k" + stored++);
            put = put("k" + stored, "v".repeat(200));
        }
        assertTrue(stored >= EXTENTS / 256 * 3 / 4, "stored " + stored + ", then " + put);
        assertEquals(stored, table.pairs());
        check(entries, extents);
    }

    @Test
    void shouldRaiseTheVersionAtEveryWriteOfAnEntry() {
        assertEquals(PilafTable.Put.STORED, put("key", "1"));
        MemorySegment name = MemorySegment.ofArray(pair("key", ""));
        int at = table.find(name, 0, 3) * PilafEntryDescriptor.LENGTH;
        int version = version(at);
        assertEquals(1, version);
        assertEquals(PilafTable.Put.STORED, put("key", "1"));
        assertEquals(version + 1, version(at));
        assertTrue(table.remove(name, 0, 3));
        assertEquals(version + 2, version(at));
        assertEquals(PilafTable.Put.STORED, put("key", "1"));
        assertEquals(version + 3, version(at));
    }

    private int version(int at) {
        return PilafEntryDescriptor.version(PilafEntryDescriptor.header(entries, at));
    }
}
