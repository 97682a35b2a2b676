package org.softrdma.stores.nessie.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.RemoteRegion;

/** Every layout by its bytes, which were computed by other means; and what does not fit is refused. */
class NessieLayoutsTest {
    private static final long WORD = 0x054a_2468_acf1_579aL;
    private static final String ENTRY =
            "030000000600000045230100000000006b657976616c756521000000000000000000000000000000" + "157c423f00000002";
    private static final String ROOTS = "0c0a030703000200fa00000000100000030000000000000000ca9a3b00000000"
            + "887766554433221110000000000000000080000000000000010000000000000020000000000000000000100000000000"
            + "020000000000000030000000000000000020000000000000fdffffff00000000";
    private static final String REQUEST = "4e455331020000000500000000000000";
    private static final String REPLY = "4e455331020000000200000001000000110000002200000033000000";
    private static final int REFERENCE = 0x0001_2345;
    private static final byte[] PAIR = "keyvalue!".getBytes(StandardCharsets.US_ASCII);
    private static final NessieShape SHAPE = new NessieShape(3, 12, 10, 3, 7, true, 250, 4096, 1_000_000_000);

    private final NessieDataDescriptor data = new NessieDataDescriptor(8, 10);

    private static ByteBuffer bytes(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    private static MemorySegment memory(ByteBuffer buffer) {
        return MemorySegment.ofBuffer(buffer.duplicate().clear());
    }

    private static String hex(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.duplicate().clear().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    // ---- words

    @Test
    void shouldLayOutAWord() {
        assertEquals(WORD, NessieWordDescriptor.of(0x2a5, 0x1234_5678, 0xabcd));
        assertEquals(0x2a5, NessieWordDescriptor.place(WORD));
        assertEquals(0x1234_5678, NessieWordDescriptor.reference(WORD));
        assertEquals(0xabcd, NessieWordDescriptor.version(WORD));
        assertEquals(0x2a5 >>> 7, NessieWordDescriptor.table(WORD, 7));
        assertFalse(NessieWordDescriptor.isMarked(WORD));
        assertFalse(NessieWordDescriptor.isEmpty(WORD));
        assertTrue(NessieWordDescriptor.isEmpty(NessieWordDescriptor.of(0, 0, 0xffff)));
        assertEquals(WORD >>> 17, NessieWordDescriptor.name(WORD));
    }

    @Test
    void shouldCountTheVersionUpAtEachChange() {
        long same = NessieWordDescriptor.of(0x2a5, 0x1234_5678, 0xabce);
        assertEquals(same | 1, NessieWordDescriptor.marked(WORD));
        assertEquals(NessieWordDescriptor.of(0x2a5, 0x1234_5678, 0xabcf), NessieWordDescriptor.unmarked(same | 1));
        assertEquals(NessieWordDescriptor.of(0, 0, 0xabce), NessieWordDescriptor.emptied(WORD));
        assertEquals(NessieWordDescriptor.of(0, 0, 0xabcf), NessieWordDescriptor.emptied(same | 1));
        assertEquals(NessieWordDescriptor.of(1, 2, 0xabce), NessieWordDescriptor.next(WORD, 1, 2));
        long last = NessieWordDescriptor.of(0x7fff, -1, 0xffff);
        assertEquals(NessieWordDescriptor.of(0x7fff, -1, 0), NessieWordDescriptor.unmarked(last), "16 bits of version");
    }

    @Test
    void shouldFilterByTheLastBitsOfTheHash() {
        long hash = 0x1234_5678_9abc_def0L;
        for (int bits = 0; bits <= NessieWordDescriptor.MOST_FILTER_BITS; bits++) {
            long word = NessieWordDescriptor.of(NessieWordDescriptor.place(9, hash, bits), 1, 0);
            assertEquals(9, NessieWordDescriptor.table(word, bits));
            assertTrue(NessieWordDescriptor.passes(word, hash, bits));
            for (int bit = 0; bit < Long.SIZE; bit++) {
                boolean passes = NessieWordDescriptor.passes(word, hash ^ 1L << bit, bits);
                assertEquals(bit >= bits, passes, bits + " bits, bit " + bit);
            }
        }
    }

    // ---- entries

    @Test
    void shouldLayOutAnEntry() {
        assertEquals(ENTRY.length() / 2, data.length());
        ByteBuffer made = ByteBuffer.allocateDirect(data.length());
        MemorySegment memory = memory(made);
        MemorySegment.copy(MemorySegment.ofArray(PAIR), 0, memory, NessieDataDescriptor.KEY_OFFSET, PAIR.length);
        data.seal(memory, made, 0, 3, 6, REFERENCE);
        String pending = ENTRY.substring(0, ENTRY.length() - 2) + "00";
        assertEquals(pending, hex(made));
        assertEquals(0x02, NessieDataDescriptor.lastByte(NessieDataDescriptor.VALID));
        assertEquals(
                data.tail(memory(bytes(ENTRY)), 0),
                NessieDataDescriptor.withState(data.tail(memory, 0), NessieDataDescriptor.VALID));

        ByteBuffer entry = bytes(ENTRY);
        assertTrue(data.isWhole(memory(entry), entry, 0, REFERENCE));
        assertEquals(3, NessieDataDescriptor.keyLength(memory(entry), 0));
        assertEquals(6, NessieDataDescriptor.valueLength(memory(entry), 0));
        assertEquals(19, NessieDataDescriptor.valueOffset(memory(entry), 0));
        assertEquals(NessieDataDescriptor.VALID, NessieDataDescriptor.state(data.tail(memory(entry), 0)));
        MemorySegment key = MemorySegment.ofArray(PAIR);
        assertTrue(NessieDataDescriptor.isOf(memory(entry), 0, key, 0, 3));
        assertFalse(NessieDataDescriptor.isOf(memory(entry), 0, key, 0, 2));
        assertFalse(NessieDataDescriptor.isOf(memory(entry), 0, key, 3, 3));
    }

    @Test
    void shouldRefuseAnEntryOfWhichAnyByteIsAnother() {
        for (int at = 0; at < NessieDataDescriptor.KEY_OFFSET + PAIR.length; at++) {
            ByteBuffer entry = bytes(ENTRY);
            entry.put(at, (byte) (entry.get(at) ^ 1));
            assertFalse(data.isWhole(memory(entry), entry, 0, REFERENCE), "byte " + at);
        }
        ByteBuffer entry = bytes(ENTRY);
        assertFalse(data.isWhole(memory(entry), entry, 0, REFERENCE + 1), "of another generation");
        ByteBuffer long1 = bytes("ffff0000ffffff7f" + ENTRY.substring(16));
        assertFalse(data.fits(memory(long1), 0));
        ByteBuffer long2 = bytes("03000000ffffffff" + ENTRY.substring(16));
        assertFalse(data.fits(memory(long2), 0));
        ByteBuffer zeroes = ByteBuffer.allocateDirect(data.length());
        assertFalse(data.isWhole(memory(zeroes), zeroes, 0, REFERENCE), "nobody wrote it");
    }

    // ---- messages

    @Test
    void shouldLayOutRoots() {
        NessieRoots roots = new NessieRoots(
                SHAPE,
                2,
                0x1122_3344_5566_7788L,
                true,
                new RemoteRegion(0x10, 0x8000, 1),
                new RemoteRegion(0x20, 0x10_0000, 2),
                new RemoteRegion(0x30, 0x2000, -3));
        ByteBuffer made = ByteBuffer.allocateDirect(NessieRootsDescriptor.LENGTH);
        NessieRootsDescriptor.put(memory(made), 0, roots);
        assertEquals(ROOTS, hex(made));
        assertTrue(NessieRootsDescriptor.isValid(memory(made), 0, NessieRootsDescriptor.LENGTH));
        assertFalse(NessieRootsDescriptor.isValid(memory(made), 0, NessieRootsDescriptor.LENGTH - 1));
        assertEquals(roots, NessieRootsDescriptor.get(memory(made), 0));
        assertFalse(NessieRootsDescriptor.isValid(
                memory(bytes("ff" + ROOTS.substring(2))), 0, NessieRootsDescriptor.LENGTH));
    }

    @Test
    void shouldLayOutMessages() {
        ByteBuffer request = ByteBuffer.allocateDirect(NessieMessageDescriptor.LENGTH);
        NessieMessageDescriptor.put(memory(request), 0, NessieMessageDescriptor.RESTOCK, 5);
        assertEquals(REQUEST, hex(request));
        assertTrue(NessieMessageDescriptor.isRequest(memory(request), 0, NessieMessageDescriptor.LENGTH));
        assertFalse(NessieMessageDescriptor.isRequest(memory(request), 0, NessieMessageDescriptor.LENGTH - 1));
        assertEquals(NessieMessageDescriptor.RESTOCK, NessieMessageDescriptor.kind(memory(request), 0));
        assertEquals(5, NessieMessageDescriptor.count(memory(request), 0));

        ByteBuffer reply = ByteBuffer.allocateDirect(REPLY.length() / 2);
        NessieMessageDescriptor.put(memory(reply), 0, NessieMessageDescriptor.RESTOCK, 2, 1);
        NessieMessageDescriptor.putReference(memory(reply), 0, 0, 0x11);
        NessieMessageDescriptor.putReference(memory(reply), 0, 1, 0x22);
        NessieMessageDescriptor.putReference(memory(reply), 0, 2, 0x33);
        assertEquals(REPLY, hex(reply));
        int restock = NessieMessageDescriptor.RESTOCK;
        assertTrue(NessieMessageDescriptor.isReply(memory(reply), 0, REPLY.length() / 2, restock));
        assertFalse(NessieMessageDescriptor.isReply(memory(reply), 0, REPLY.length() / 2 - 4, restock));
        assertFalse(NessieMessageDescriptor.isReply(memory(reply), 0, REPLY.length() / 2, 1));
        assertEquals(0x22, NessieMessageDescriptor.reference(memory(reply), 0, 1));
        assertEquals(1, NessieMessageDescriptor.doubtful(memory(reply), 0));
    }

    @Test
    void shouldLayOutANotice() {
        assertEquals(0xfffe_dcba_0001_2345L, NessieNoticeDescriptor.of(REFERENCE));
        assertEquals(REFERENCE, NessieNoticeDescriptor.reference(0xfffe_dcba_0001_2345L));
        assertEquals(0, NessieNoticeDescriptor.reference(0xfffe_dcba_0001_2344L), "half of it");
    }

    // ---- slots

    @Test
    void shouldSpreadKeysOverDifferentSlotsOfAllNodes() {
        NessieShape small = new NessieShape(3, 2, 4, 4, 7, true, 8, 8, 0);
        NessieHash hash = new NessieHash(small);
        int[] slots = new int[NessieShape.MOST_WAYS];
        int[] counts = new int[12];
        for (int i = 0; i < 3000; i++) {
            byte[] key = ("key" + i).getBytes(StandardCharsets.US_ASCII);
            hash.slots(NessieHash.of(MemorySegment.ofArray(key), 0, key.length), slots);
            Set<Integer> different = new HashSet<>();
            for (int slot : slots) {
                assertTrue(different.add(slot), "a slot twice");
                assertEquals(slot, hash.node(slot) << 2 | hash.word(slot));
                counts[slot]++;
            }
        }
        for (int count : counts) {
            assertEquals(1000, count, 150);
        }
    }
}
