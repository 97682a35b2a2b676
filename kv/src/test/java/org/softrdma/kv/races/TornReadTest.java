package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.ItemCheck;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.PlainArenas;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;

/**
 * Every schedule of one READ and one change of the store, without threads: a part of the item's words is copied before the
 * change, the others after it. What lands may be taken for the item only if it is the item that the locator names, whole.
 * The unit is the aligned 8-byte word, which no memory system divides. The same for a client that READs whole chunks and
 * takes any living item of its key.
 */
class TornReadTest {
    /** What the store does between the parts of the READ. */
    enum Change {
        REPLACE,
        DELETE,
        REUSE_BY_SAME_KEY,
        REUSE_BY_OTHER_KEY,
        HEADER_FILLED_BY_SAME_KEY,
        HALF_FILLED_BY_SAME_KEY
    }

    private static final byte[] KEY = "key1".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] OTHER_KEY = "key2".getBytes(StandardCharsets.US_ASCII);
    private static final int MANY = 100_000;

    private final PlainArenas arenas = new PlainArenas();
    private final ItemStore store =
            new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, 1 << 20), arenas, 64 << 20), 1, true);
    private final MemorySegment landed = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(4096));
    private final ItemCheck check = new ItemCheck();
    private int version;
    private boolean expiring = true;

    @AfterEach
    void free() {
        arenas.close();
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void shouldTakeAnItemOnlyWholeWhereverTheReadIsCut(Change change) {
        for (int valueLength : new int[] {1, 8, 28, 36, 200}) {
            Locator read = set(KEY, value(valueLength));
            long[] before = words(read);
            change(change, read, valueLength);
            long[] after = words(read);
            assertNotEquals(before[0], after[0], "generation and sequence");
            for (int cut = 0; cut < before.length; cut++) {
                int first = cut;
                land(before.length, word -> word < first ? before[word] : after[word]);
                assertLivingItemIsWhole(before, after, change + ", after " + cut + " words");
                Set<ReadOutcome> allowed =
                        cut == 0 ? EnumSet.of(ReadOutcome.STALE, ReadOutcome.FORWARDED) : wholeOrTorn(before);
                assertTrue(
                        allowed.contains(outcome(read)),
                        outcome(read) + ", " + change + ", value of " + valueLength + ", after " + cut + " words");
            }
            land(before.length, word -> before[word]);
            assertEquals(ReadOutcome.HIT, outcome(read), "READ before the change");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 28, 36})
    void shouldTakeAnItemOnlyWholeInWhateverOrderItsWordsAreRead(int valueLength) {
        expiring = false; // no CRC covers the expiry, which a touch changes in place: it relies on the order
        Locator read = set(KEY, value(valueLength));
        long[] before = words(read);
        change(Change.REUSE_BY_SAME_KEY, read, valueLength);
        long[] after = words(read);
        for (int subset = 0; subset < 1 << before.length; subset++) {
            int old = subset;
            land(before.length, word -> (old >>> word & 1) == 1 ? before[word] : after[word]);
            assertLivingItemIsWhole(before, after, "old words " + Integer.toBinaryString(subset));
            if (outcome(read) == ReadOutcome.HIT) {
                assertTrue(
                        isWhole(before),
                        "words of two items taken for one; old ones: " + Integer.toBinaryString(subset));
            }
        }
    }

    /** A READ that is cut twice, with two changes. */
    @Test
    void shouldTakeAnItemOnlyWholeWhenTheStoreGoesOnDuringTheRead() {
        int valueLength = 60;
        long seed = Long.getLong("softrdma.seed", 20_251);
        Random random = new Random(seed);
        for (int run = 0; run < 200; run++) {
            Locator read = set(KEY, value(valueLength));
            long[][] lives = new long[3][];
            lives[0] = words(read);
            for (int life = 1; life < lives.length; life++) {
                change(Change.REUSE_BY_SAME_KEY, read, valueLength);
                lives[life] = words(read);
            }
            int[] age = new int[lives[0].length];
            for (int word = 0; word < age.length; word++) {
                age[word] = random.nextInt(lives.length);
            }
            Arrays.sort(age);
            land(age.length, word -> lives[age[word]][word]);
            assertTrue(
                    livingOutcome() != ReadOutcome.HIT || isWhole(lives[0]) || isWhole(lives[1]) || isWhole(lives[2]),
                    () -> "whole chunk, ages " + Arrays.toString(age) + ", softrdma.seed=" + seed);
            boolean hit = outcome(read) == ReadOutcome.HIT;
            assertTrue(!hit || isWhole(lives[0]), () -> "ages " + Arrays.toString(age) + ", softrdma.seed=" + seed);
        }
    }

    private void change(Change change, Locator read, int valueLength) {
        switch (change) {
            case REPLACE -> set(KEY, value(valueLength));
            case DELETE -> assertEquals(StoreStatus.STORED, store.delete(new KeySlice(KEY), 0, 0));
            case REUSE_BY_SAME_KEY -> reuse(read, KEY, valueLength);
            case REUSE_BY_OTHER_KEY -> {
                assertEquals(StoreStatus.STORED, store.delete(new KeySlice(KEY), 0, 0));
                reuse(read, OTHER_KEY, valueLength);
            }
            case HEADER_FILLED_BY_SAME_KEY -> fillThere(read, valueLength, 0);
            case HALF_FILLED_BY_SAME_KEY -> fillThere(read, valueLength, valueLength / 2);
        }
    }

    /** Replaces the item and begins to fill its chunk again, with so much of a value. */
    private void fillThere(Locator read, int valueLength, int filled) {
        set(KEY, value(valueLength));
        NewItem filling = reserveThere(read, valueLength);
        MemorySegment.copy(
                value(valueLength), 0, filling.memory(), ValueLayout.JAVA_BYTE, filling.valueOffset(), filled);
    }

    /** Sets a key until its item is where another one was. */
    private void reuse(Locator read, byte[] key, int valueLength) {
        for (int i = 0; i < MANY; i++) {
            if (set(key, value(valueLength)).offset() == read.offset()) {
                return;
            }
        }
        throw new AssertionError("the chunk at " + read.offset() + " was not used again");
    }

    /** Reserves chunks until one is where another item was; those before it are given back. */
    private NewItem reserveThere(Locator read, int valueLength) {
        for (int i = 0; i < MANY; i++) {
            NewItem reserved = store.reserve(new KeySlice(KEY), 0, expiry(), valueLength, 0);
            assertEquals(NewItem.Status.READY, reserved.status());
            if (reserved.valueOffset() == read.offset() + ItemDescriptor.KEY_OFFSET + KEY.length) {
                return reserved;
            }
            store.abandon(reserved);
        }
        throw new AssertionError("the chunk at " + read.offset() + " was not used again");
    }

    private interface WordSource {
        long word(int index);
    }

    private void land(int words, WordSource source) {
        for (int word = 0; word < words; word++) {
            landed.setAtIndex(ValueLayout.JAVA_LONG, word, source.word(word));
        }
    }

    private ReadOutcome outcome(Locator read) {
        return check.check(landed, landed.asByteBuffer(), 0, read.second(), KEY, ItemCheck.NO_EXPIRY);
    }

    /** What a client makes of it that takes any living item of its key, of a chunk with a key of its own. */
    private ReadOutcome livingOutcome() {
        return check.checkLiving(landed, landed.asByteBuffer(), 0, (int) landed.byteSize(), KEY, ItemCheck.NO_EXPIRY);
    }

    /** Either the item before the change or the one after it, if that lives and is of the key, but no mixture. */
    private void assertLivingItemIsWhole(long[] before, long[] after, String schedule) {
        if (livingOutcome() == ReadOutcome.HIT) {
            boolean afterLives = (after[0] & 1) == 1;
            assertTrue(isWhole(before) || (afterLives && isWhole(after)), "whole chunk, " + schedule);
        }
    }

    /** HIT only if what landed is the item. */
    private Set<ReadOutcome> wholeOrTorn(long[] before) {
        return isWhole(before) ? EnumSet.of(ReadOutcome.HIT, ReadOutcome.TORN) : EnumSet.of(ReadOutcome.TORN);
    }

    /** True if the cas, the expiry and the value that landed are those of the item. */
    private boolean isWhole(long[] item) {
        MemorySegment expected = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(item.length * Long.BYTES));
        MemorySegment.copy(item, 0, expected, ValueLayout.JAVA_LONG, 0, item.length);
        long from = ItemDescriptor.valueOffset(expected, 0);
        long to = from + ItemDescriptor.valueLength(expected, 0);
        return ItemDescriptor.cas(expected, 0) == ItemDescriptor.cas(landed, 0)
                && ItemDescriptor.expiry(expected, 0) == ItemDescriptor.expiry(landed, 0)
                && MemorySegment.mismatch(expected, from, to, landed, from, to) < 0;
    }

    private long[] words(Locator where) {
        return arenas.memory(where.rkey())
                .asSlice(where.offset(), where.length())
                .toArray(ValueLayout.JAVA_LONG);
    }

    /** A value like no other. */
    private byte[] value(int length) {
        byte[] value = new byte[length];
        new Random(++version).nextBytes(value);
        return value;
    }

    private int expiry() {
        return expiring ? 1_000_000 + version : 0;
    }

    private Locator set(byte[] key, byte[] value) {
        NewItem item = store.reserve(new KeySlice(key), 0, expiry(), value.length, 0);
        assertEquals(NewItem.Status.READY, item.status());
        MemorySegment.copy(value, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length);
        assertEquals(StoreStatus.STORED, store.store(item, new StoreRule(), 0));
        return item.locator();
    }
}
