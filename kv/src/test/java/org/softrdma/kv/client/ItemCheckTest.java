package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
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

class ItemCheckTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "some value".getBytes(StandardCharsets.US_ASCII);
    private static final int EXPIRY = 1000;

    private final PlainArenas arenas = new PlainArenas();
    private final ItemStore store =
            new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, 1 << 20), arenas, 64 << 20), 1, true);
    private final Locator locator = set(VALUE, EXPIRY);
    private final MemorySegment landed = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(4096));
    private final ItemCheck check = new ItemCheck();

    @AfterEach
    void free() {
        arenas.close();
    }

    @Test
    void shouldTakeWholeCurrentItem() {
        read(locator);
        assertEquals(ReadOutcome.HIT, check(locator, KEY, EXPIRY - 1));
    }

    @Test
    void shouldFindDeletedItemStale() {
        store.delete(new KeySlice(KEY), 0, 0);
        read(locator);
        assertEquals(ReadOutcome.STALE, check(locator, KEY, 0));
    }

    @Test
    void shouldFindDeadItemStaleWhateverTheLocatorSays() {
        store.delete(new KeySlice(KEY), 0, 0);
        read(locator);
        int generation = ItemDescriptor.generation(landed, 0);
        assertEquals(0, generation & 1, "a dead item");
        Locator forged =
                new Locator(locator.rkey(), locator.offset(), locator.length(), locator.sizeClass(), generation);
        assertEquals(ReadOutcome.STALE, check(forged, KEY, 0));
    }

    @Test
    void shouldKeepTheLengthsThatWereCheckedWhateverIsWrittenThereLater() {
        read(locator);
        assertEquals(ReadOutcome.HIT, check(locator, KEY, 0));
        RemoteItem item = new RemoteItem().wrap(landed, 0, check.keyLength(), check.valueLength());
        for (int bad : new int[] {-1, Integer.MAX_VALUE, 4096}) {
            landed.set(ValueLayout.JAVA_INT_UNALIGNED, ItemDescriptor.VALUE_LENGTH_OFFSET, bad);
            landed.set(ValueLayout.JAVA_BYTE, ItemDescriptor.KEY_LENGTH_OFFSET, (byte) bad);
            assertArrayEquals(VALUE, item.copy().value());
        }
    }

    @Test
    void shouldFindReplacedItemForwardedToItsSuccessor() {
        Locator fresh = set(VALUE, 0);
        read(locator);
        assertEquals(ReadOutcome.FORWARDED, check(locator, KEY, 0));
        assertEquals(
                fresh, Locator.of(ItemDescriptor.forwardFirst(landed, 0), ItemDescriptor.forwardSecond(landed, 0)));
        read(fresh);
        assertEquals(ReadOutcome.HIT, check(fresh, KEY, 0));
    }

    @Test
    void shouldFindItemTornWhereverOneBitIsWrong() {
        // Not under a check: generation (0-3) is the locator's, item flags (29) and forward (40-55) may change. Expiry
        // (16-19) has no CRC, it is an aligned word.
        long length = locator.length();
        for (int i = 4; i < length; i++) {
            if ((i >= 16 && i < 20) || i == 29 || (i >= 40 && i < 56)) {
                continue;
            }
            for (int bit = 0; bit < 8; bit++) {
                read(locator);
                flip(i, bit);
                assertEquals(ReadOutcome.TORN, check(locator, KEY, 0), "byte " + i + " bit " + bit);
            }
        }
    }

    @Test
    void shouldFindItemStaleWhereverTheGenerationIsWrong() {
        for (int bit = 0; bit < 32; bit++) {
            read(locator);
            flip(bit / 8, bit % 8);
            assertEquals(ReadOutcome.STALE, check(locator, KEY, 0));
        }
    }

    @Test
    void shouldFindPartsOfTwoLivesOfOneChunkTorn() {
        // One page, one chunk of this class: both items are in the same place, with the same key and length.
        ItemStore onePage =
                new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, 1 << 20), arenas, 1 << 20), 1, false);
        byte[] value = new byte[600_000];
        Locator old = set(onePage, value, 0);
        byte[] before = bytes(old);
        assertEquals(StoreStatus.STORED, onePage.delete(new KeySlice(KEY), 0, 0));
        value[value.length - 1] = 1;
        Locator fresh = set(onePage, value, 0);
        byte[] after = bytes(fresh);
        assertEquals(old.offset(), fresh.offset());
        MemorySegment memory = arenas.create(1 << 20).memory();
        for (int cut : new int[] {8, 16, 24, 32, 40, 56, 64, 4096, 300_000, old.length() - 8, old.length() - 4}) {
            assertEquals(ReadOutcome.TORN, checkParts(memory, before, cut, after, old), "old, then new from " + cut);
            assertEquals(ReadOutcome.TORN, checkParts(memory, after, cut, before, fresh), "new, then old from " + cut);
            assertEquals(ReadOutcome.STALE, checkParts(memory, after, cut, before, old), "new, then old from " + cut);
        }
        assertEquals(ReadOutcome.HIT, checkParts(memory, before, old.length(), after, old));
        assertEquals(ReadOutcome.HIT, checkParts(memory, after, old.length(), before, fresh));
    }

    @Test
    void shouldFindForeignKey() {
        read(locator);
        assertEquals(ReadOutcome.KEY_MISMATCH, check(locator, "kez".getBytes(StandardCharsets.US_ASCII), 0));
        assertEquals(ReadOutcome.KEY_MISMATCH, check(locator, "ke".getBytes(StandardCharsets.US_ASCII), 0));
    }

    @Test
    void shouldFindItemExpiredFromItsSecondOn() {
        read(locator);
        assertEquals(ReadOutcome.HIT, check(locator, KEY, EXPIRY - 1));
        assertEquals(ReadOutcome.EXPIRED, check(locator, KEY, EXPIRY));
        assertEquals(ReadOutcome.EXPIRED, check(locator, KEY, Long.MAX_VALUE));
        assertEquals(ReadOutcome.HIT, check(locator, KEY, ItemCheck.NO_EXPIRY));
    }

    @Test
    void shouldFindGarbageTorn() {
        landed.fill((byte) 0xFF);
        Locator all = new Locator(1, 0, 64, 0, -1);
        assertEquals(ReadOutcome.TORN, check(all, KEY, 0));
        landed.fill((byte) 0);
        assertEquals(ReadOutcome.STALE, check(new Locator(1, 0, 64, 0, 0), KEY, 0));
    }

    @Test
    void shouldCheckContentOfWrittenItemWithoutItsGeneration() {
        store.delete(new KeySlice(KEY), 0, 0);
        read(locator);
        assertEquals(
                ReadOutcome.HIT,
                check.checkContent(landed, landed.asByteBuffer(), 0, locator.length(), KEY, ItemCheck.NO_EXPIRY));
    }

    private ReadOutcome check(Locator where, byte[] key, long latestServerSeconds) {
        return check.check(landed, landed.asByteBuffer(), 0, where.second(), key, latestServerSeconds);
    }

    private void read(Locator where) {
        MemorySegment.copy(arenas.memory(where.rkey()), where.offset(), landed, 0, where.length());
    }

    private void flip(int index, int bit) {
        landed.set(ValueLayout.JAVA_BYTE, index, (byte) (landed.get(ValueLayout.JAVA_BYTE, index) ^ 1 << bit));
    }

    private ReadOutcome checkParts(MemorySegment memory, byte[] head, int cut, byte[] tail, Locator where) {
        MemorySegment.copy(head, 0, memory, ValueLayout.JAVA_BYTE, 0, cut);
        MemorySegment.copy(tail, cut, memory, ValueLayout.JAVA_BYTE, cut, tail.length - cut);
        return check.check(memory, memory.asByteBuffer(), 0, where.second(), KEY, 0);
    }

    private byte[] bytes(Locator where) {
        return arenas.memory(where.rkey())
                .asSlice(where.offset(), where.length())
                .toArray(ValueLayout.JAVA_BYTE);
    }

    private Locator set(byte[] value, int expiry) {
        return set(store, value, expiry);
    }

    private static Locator set(ItemStore into, byte[] value, int expiry) {
        NewItem item = into.reserve(new KeySlice(KEY), 0, expiry, value.length, 0);
        MemorySegment.copy(value, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length);
        assertEquals(StoreStatus.STORED, into.store(item, new StoreRule(), 0));
        return item.locator();
    }
}
