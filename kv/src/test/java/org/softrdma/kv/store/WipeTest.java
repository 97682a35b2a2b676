package org.softrdma.kv.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.ItemCheck;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.turns.Turns;

/** What dead items leave in memory that peers READ. */
class WipeTest {
    private static final int MIB = 1 << 20;
    private static final long NOW = 1_000_000;
    private static final String SECRET = "the password is xyzzy";

    private final PlainArenas arenas = new PlainArenas();
    private final ItemStore store = store(true);
    private final StoreUser user = new StoreUser(store);

    private ItemStore store(boolean wiping) {
        return new ItemStore(
                new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, 2L * MIB, wiping, Turns.OF_JVM), 42, true);
    }

    @AfterEach
    void free() {
        arenas.close();
    }

    @Test
    void shouldLeaveWhatDeadItemsHadUnlessToldOtherwise() {
        ItemStore keeping = store(false);
        StoreUser other = new StoreUser(keeping);
        other.set("key", SECRET);
        other.delete("key");
        assertTrue(stands(SECRET), "or this test would not see it either");
    }

    @Test
    void shouldWipeDeleted() {
        user.set("secret-key", SECRET);
        assertTrue(stands(SECRET));
        user.delete("secret-key");
        assertGone();
    }

    /** Together they are as good as 64 bits of a short value, or tell which of many guesses was right. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLeaveNoChecksumsOfWhatItWiped(boolean stored) {
        NewItem item = store.reserve(new KeySlice(StoreUser.bytes("pin")), 0, 0, 4, NOW);
        item.memory().set(ValueLayout.JAVA_INT_UNALIGNED, item.valueOffset(), 0x34333231);
        StoreRule rule = new StoreRule().reset(stored ? StoreMode.ADD : StoreMode.REPLACE);
        assertEquals(stored ? StoreStatus.STORED : StoreStatus.NOT_STORED, store.store(item, rule, NOW));
        if (stored) {
            assertNotEquals(0, ItemDescriptor.checksum(item.memory(), item.item()));
            user.delete("pin");
        }
        assertEquals(0, ItemDescriptor.checksum(item.memory(), item.item()));
    }

    @Test
    void shouldWipeReplacedAndLeaveWhereToFindTheNewOne() {
        user.set("secret-key", SECRET);
        PinnedItem old = pin("secret-key");
        store.unpin(old);
        user.set("secret-key", "harmless");
        assertTrue(!stands(SECRET));
        assertNotEquals(0, ItemDescriptor.forwardSecond(old.arena().memory(), old.offset()), "for READs under way");
        assertEquals(0, ItemDescriptor.generation(old.arena().memory(), old.offset()) & 1, "dead");
    }

    @ParameterizedTest
    @ValueSource(strings = {"asked for", "at the tail", "swept", "flushed"})
    void shouldWipeExpiredAndFlushed(String how) {
        user.store("secret-key", SECRET, (int) NOW + 10, new StoreRule());
        switch (how) {
            case "asked for" -> {
                user.now = NOW + 11;
                assertNull(user.get("secret-key"));
            }
            case "at the tail" -> store.reclaimTails(NOW + 11);
            case "swept" -> {
                for (int i = 0; i < store.parts(); i++) {
                    store.reclaim(i, NOW + 11);
                }
            }
            default -> store.flush();
        }
        assertGone();
    }

    @Test
    void shouldWipeEvicted() {
        user.set("secret-key", SECRET);
        for (int i = 0;
                i < 60_000
                        && store.classStatistics(NOW)
                                        .getFirst()
                                        .events()
                                        .evictions()
                                        .items()
                                == 0;
                i++) {
            user.set("other" + i, "x".repeat(SECRET.length()));
        }
        assertGone();
    }

    @Test
    void shouldWipeWhatIsBeingSentOnceItWas() {
        user.set("secret-key", SECRET);
        PinnedItem first = pin("secret-key");
        PinnedItem second = pin("secret-key");
        user.delete("secret-key");
        store.unpin(first);
        assertTrue(stands(SECRET), "it still is being sent");
        store.unpin(second);
        assertGone();
    }

    @Test
    void shouldWipeValuesThatWereRefusedOrGivenUp() {
        user.set("key", "harmless");
        assertEquals(StoreStatus.NOT_STORED, user.store("key", SECRET, 0, new StoreRule().reset(StoreMode.ADD)));
        assertEquals(StoreStatus.NOT_STORED, user.store("nokey", SECRET, 0, new StoreRule().reset(StoreMode.APPEND)));
        NewItem unfinished = store.reserve(new KeySlice(StoreUser.bytes("secret-key")), 0, 0, SECRET.length(), NOW);
        MemorySegment.copy(
                MemorySegment.ofArray(SECRET.getBytes(StandardCharsets.US_ASCII)),
                0,
                unfinished.memory(),
                unfinished.valueOffset(),
                SECRET.length() - 3);
        store.abandon(unfinished);
        assertGone();
    }

    @Test
    void shouldWipeThePartsOfAJoinedValue() {
        user.set("key", SECRET);
        assertEquals(StoreStatus.STORED, user.store("key", SECRET, 0, new StoreRule().reset(StoreMode.APPEND)));
        assertEquals(2, count(SECRET), "the two halves of the value, and neither of what it was made from");
        user.delete("key");
        assertGone();
    }

    /** Whatever part of an item a READ got before its death, and what part behind the wiping. */
    @Test
    void shouldNotLetAReadUnderWayTakeWipedBytesForTheItem() {
        byte[] key = StoreUser.bytes("secret-key");
        user.set("secret-key", SECRET);
        PinnedItem item = pin("secret-key");
        store.unpin(item);
        MemorySegment there = item.arena().memory().asSlice(item.offset(), item.length());
        byte[] before = there.toArray(ValueLayout.JAVA_BYTE);
        user.delete("secret-key");
        byte[] after = there.toArray(ValueLayout.JAVA_BYTE);
        ByteBuffer landing = ByteBuffer.allocateDirect(item.length()).order(ByteOrder.nativeOrder());
        MemorySegment landed = MemorySegment.ofBuffer(landing);
        ItemCheck check = new ItemCheck();
        for (int split = 0; split < item.length(); split++) {
            for (boolean headFirst : new boolean[] {true, false}) {
                for (int i = 0; i < item.length(); i++) {
                    landed.set(ValueLayout.JAVA_BYTE, i, i < split == headFirst ? before[i] : after[i]);
                }
                ReadOutcome outcome =
                        check.check(landed, landing.clear(), 0, item.locator().second(), key, NOW);
                boolean all = headFirst ? split > ItemDescriptor.KEY_OFFSET + 30 : split == 0;
                assertTrue(
                        outcome != ReadOutcome.HIT || all, split + " bytes of the " + (headFirst ? "living" : "dead"));
            }
        }
    }

    private PinnedItem pin(String key) {
        PinnedItem pinned = store.pin(new KeySlice(StoreUser.bytes(key)), NOW);
        assertTrue(pinned.isPresent());
        return pinned;
    }

    private void assertGone() {
        assertTrue(!stands(SECRET), "the value still stands there");
        assertTrue(!stands("secret-key"), "the key still stands there");
        assertTrue(!stands("xyzzy"), "a part of the value still stands there");
    }

    private boolean stands(String text) {
        return count(text) > 0;
    }

    /** How often a text stands in what clients can READ. */
    private int count(String text) {
        int found = 0;
        for (MemorySegment memory : arenas.memories()) {
            String all =
                    new String(memory.asSlice(0, 3L * MIB).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
            for (int at = all.indexOf(text); at >= 0; at = all.indexOf(text, at + 1)) {
                found++;
            }
        }
        return found;
    }
}
