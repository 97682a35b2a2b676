package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.hash.ChecksumPair;
import org.softrdma.verbs.RemoteRegion;

/** Every layout by its bytes, which were computed by other means; and lengths that do not fit are refused. */
class PilafLayoutsTest {
    private static final String EXTENT = "03000000060000006b657976616c75652100000000000000";
    private static final String ENTRY = "6924cdab180000000807060504030201b48086e9d94b4a1985cdc521b443d43f";
    private static final String PUT = "030003000600000005000c0b0a0000006b657976616c756521";
    private static final String HELLO = "0100000010000000000000000000000050494c31010000008877665544332211";
    private static final String REPLY = "000000000600000005000c0b0a00000076616c756521";
    private static final String ROOTS = "50494c310f01100007000000fa00000000100000111111112222222266666666"
            + "3333333333333333444444444444444455555555555555550000000400000000"
            + "010000000000000002000000000000000300000000000000";
    private static final String RECORD = "20000000057874fd03000300060000006b657976616c75652100000000000000";
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value!".getBytes(StandardCharsets.US_ASCII);
    private static final int NUMBER = 0x0a0b0c;

    private final ChecksumPair checksum = new ChecksumPair();

    private static void put(Bytes bytes, int key) {
        MemorySegment.copy(MemorySegment.ofArray(KEY), 0, bytes.memory(), key, KEY.length);
        MemorySegment.copy(MemorySegment.ofArray(VALUE), 0, bytes.memory(), key + KEY.length, VALUE.length);
    }

    @Test
    void shouldLayOutAnEntry() {
        Bytes extent = Bytes.of(EXTENT);
        long extentChecksum = checksum.of(extent.view(), 0, EXTENT.length() / 2);
        Bytes made = Bytes.zeroes(PilafEntryDescriptor.LENGTH);
        PilafEntryDescriptor.put(
                made.memory(),
                made.view(),
                0,
                PilafEntryDescriptor.header(true, 0x1234, 0xabcd, EXTENT.length() / 2),
                0x0102_0304_0506_0708L,
                extentChecksum,
                checksum);
        assertEquals(ENTRY, made.toString());

        MemorySegment entry = Bytes.of(ENTRY).memory();
        long header = PilafEntryDescriptor.header(entry, 0);
        assertTrue(PilafEntryDescriptor.isInUse(header));
        assertEquals(0x1234, PilafEntryDescriptor.version(header));
        assertEquals(0xabcd, PilafEntryDescriptor.fingerprint(header));
        assertEquals(EXTENT.length() / 2, PilafEntryDescriptor.extentLength(header));
        assertEquals(0x0102_0304_0506_0708L, PilafEntryDescriptor.extentOffset(entry, 0));
        assertEquals(extentChecksum, PilafEntryDescriptor.extentChecksum(entry, 0));
    }

    @Test
    void shouldCountVersionsIn15Bits() {
        long header = PilafEntryDescriptor.header(false, 0x7fff + 1, 0, 0);
        assertEquals(0, PilafEntryDescriptor.version(header));
        assertFalse(PilafEntryDescriptor.isInUse(header));
        assertEquals(0, PilafEntryDescriptor.fingerprint(header));
    }

    @Test
    void shouldRefuseAnEntryOfWhichAnyByteIsAnother() {
        for (int at = 0; at < PilafEntryDescriptor.LENGTH; at++) {
            Bytes entry = Bytes.of(ENTRY);
            assertTrue(PilafEntryDescriptor.isWhole(entry.memory(), entry.view(), 0, checksum));
            entry.flip(at);
            assertFalse(PilafEntryDescriptor.isWhole(entry.memory(), entry.view(), 0, checksum), "byte " + at);
        }
        Bytes zeroes = Bytes.zeroes(PilafEntryDescriptor.LENGTH);
        assertFalse(PilafEntryDescriptor.isWhole(zeroes.memory(), zeroes.view(), 0, checksum), "nobody wrote it");
    }

    @Test
    void shouldLayOutAnExtent() {
        MemorySegment extent = Bytes.of(EXTENT).memory();
        assertEquals(EXTENT.length() / 2, PilafExtentDescriptor.length(KEY.length, VALUE.length));
        assertEquals(0x6_0000_0003L, PilafExtentDescriptor.header(KEY.length, VALUE.length));
        assertEquals(KEY.length, PilafExtentDescriptor.keyLength(extent, 0));
        assertEquals(VALUE.length, PilafExtentDescriptor.valueLength(extent, 0));
        assertEquals(11, PilafExtentDescriptor.valueOffset(extent, 0));
        assertTrue(PilafExtentDescriptor.isOf(extent, 0, MemorySegment.ofArray(KEY), 0, KEY.length));
        assertFalse(PilafExtentDescriptor.isOf(extent, 0, MemorySegment.ofArray(KEY), 0, 2));
        assertFalse(PilafExtentDescriptor.isOf(extent, 0, MemorySegment.ofArray(VALUE), 0, 3));
    }

    @Test
    void shouldRefuseAnExtentWhoseLengthsDoNotFit() {
        for (int available = 0; available <= EXTENT.length() / 2; available++) {
            boolean fits = PilafExtentDescriptor.isValid(Bytes.of(EXTENT).memory(), 0, available);
            assertEquals(available == EXTENT.length() / 2, fits, "of " + available);
        }
        for (String lengths : new String[] {"0000000006000000", "03000000ffffffff", "ffff0000ffffff7f"}) {
            MemorySegment extent = Bytes.of(lengths + EXTENT.substring(16)).memory();
            assertFalse(PilafExtentDescriptor.isValid(extent, 0, EXTENT.length() / 2), lengths);
        }
    }

    @Test
    void shouldLayOutRequests() {
        Bytes put = Bytes.zeroes(PUT.length() / 2);
        PilafRequestDescriptor.putHeader(
                put.memory(), 0, PilafRequestDescriptor.PUT, KEY.length, VALUE.length, NUMBER, 5);
        put(put, PilafRequestDescriptor.KEY_OFFSET);
        assertEquals(PUT, put.toString());
        long ticket = PilafRequestDescriptor.ticket(put.memory(), 0);
        assertEquals(NUMBER, PilafRequestDescriptor.number(ticket));
        assertEquals(5, PilafRequestDescriptor.slot(ticket));

        Bytes hello = Bytes.zeroes(PilafRequestDescriptor.HELLO_LENGTH);
        PilafRequestDescriptor.putHello(hello.memory(), 0, 0x1122_3344_5566_7788L);
        assertEquals(HELLO, hello.toString());
        assertEquals(0x1122_3344_5566_7788L, PilafRequestDescriptor.helloClient(hello.memory(), 0));
    }

    @Test
    void shouldRefuseRequestsThatAreNone() {
        for (String request : new String[] {PUT, HELLO}) {
            int length = request.length() / 2;
            for (int available = 0; available < length; available++) {
                assertFalse(isRequest(request, available), request + " of " + available);
            }
            assertTrue(isRequest(request, length), request);
            assertFalse(isRequest("00" + request.substring(2), length), "no operation");
            assertFalse(isRequest("05" + request.substring(2), length), "no operation");
        }
        assertFalse(isRequest("02" + PUT.substring(2), PUT.length() / 2), "a GET with a value");
        assertFalse(
                PilafRequestDescriptor.isValid(Bytes.of(PUT).memory(), 0, PUT.length() / 2, 2, 100), "too long a key");
        assertFalse(
                PilafRequestDescriptor.isValid(Bytes.of(PUT).memory(), 0, PUT.length() / 2, 100, 5),
                "too long a value");
        assertFalse(isRequest(HELLO.replace("50494c31", "50494c30"), HELLO.length() / 2), "magic");
        assertFalse(isRequest(HELLO.replace("3101", "3102"), HELLO.length() / 2), "version");
    }

    private static boolean isRequest(String hex, int available) {
        return PilafRequestDescriptor.isValid(Bytes.of(hex).memory(), 0, available, 100, 100);
    }

    @Test
    void shouldLayOutReplies() {
        Bytes reply = Bytes.zeroes(REPLY.length() / 2);
        long ticket = (long) NUMBER << Short.SIZE | 5;
        PilafReplyDescriptor.putHeader(reply.memory(), 0, PilafReplyDescriptor.DONE, VALUE.length, ticket);
        MemorySegment.copy(
                MemorySegment.ofArray(VALUE), 0, reply.memory(), PilafReplyDescriptor.VALUE_OFFSET, VALUE.length);
        assertEquals(REPLY, reply.toString());
        assertEquals(ticket, PilafReplyDescriptor.ticket(reply.memory(), 0));
        assertEquals(VALUE.length, PilafReplyDescriptor.valueLength(reply.memory(), 0));

        int length = REPLY.length() / 2;
        for (int available = 0; available <= length; available++) {
            assertEquals(
                    available == length, PilafReplyDescriptor.isValid(reply.memory(), 0, available), "of " + available);
        }
        assertFalse(
                PilafReplyDescriptor.isValid(Bytes.of("03" + REPLY.substring(2)).memory(), 0, length));
    }

    @Test
    void shouldLayOutRoots() {
        PilafRoots roots = new PilafRoots(
                new PilafHash(15, new long[] {1, 2, 3}),
                true,
                16,
                250,
                4096,
                0x6666_6666,
                0x3333_3333_3333_3333L,
                7,
                new RemoteRegion(0x4444_4444_4444_4444L, 32L << 15, 0x1111_1111),
                new RemoteRegion(0x5555_5555_5555_5555L, 1 << 26, 0x2222_2222));
        Bytes bytes = Bytes.zeroes(PilafRootsDescriptor.LENGTH);
        PilafRootsDescriptor.put(bytes.memory(), 0, roots);
        assertEquals(ROOTS, bytes.toString());

        PilafRoots got = PilafRootsDescriptor.get(Bytes.of(ROOTS).memory(), 0);
        assertEquals(roots.entries(), got.entries());
        assertEquals(roots.extents(), got.extents());
        assertEquals(roots.boot(), got.boot());
        assertEquals(7, got.epoch());
        assertEquals(16, got.window());
        assertEquals(250, got.maxKeyLength());
        assertEquals(4096, got.maxValueLength());
        assertEquals(0x6666_6666, got.session());
        assertTrue(got.fingerprints());
        for (int i = 0; i < PilafHash.WAYS; i++) {
            assertEquals(i + 1, got.hash().seed(i));
        }
        for (int available = 0; available <= PilafRootsDescriptor.LENGTH; available++) {
            assertEquals(
                    available == PilafRootsDescriptor.LENGTH,
                    PilafRootsDescriptor.isValid(Bytes.of(ROOTS).memory(), 0, available),
                    "of " + available);
        }
    }

    @Test
    void shouldLayOutARecordOfTheLog() {
        CRC32C crc = new CRC32C();
        Bytes record = Bytes.zeroes(RECORD.length() / 2);
        put(record, PilafLogRecordDescriptor.KEY_OFFSET);
        PilafLogRecordDescriptor.seal(
                record.memory(), record.view(), 0, PilafRequestDescriptor.PUT, KEY.length, VALUE.length, crc);
        assertEquals(RECORD, record.toString());
        assertEquals(PilafRequestDescriptor.PUT, PilafLogRecordDescriptor.operation(record.memory(), 0));
        assertEquals(KEY.length, PilafLogRecordDescriptor.keyLength(record.memory(), 0));
        assertEquals(VALUE.length, PilafLogRecordDescriptor.valueLength(record.memory(), 0));

        for (int available = 0; available <= RECORD.length() / 2; available++) {
            assertEquals(
                    available == RECORD.length() / 2,
                    PilafLogRecordDescriptor.isValid(record.memory(), record.view(), 0, available, crc),
                    "of " + available);
        }
        for (int at = 0; at < RECORD.length() / 2; at++) {
            Bytes other = Bytes.of(RECORD);
            other.flip(at);
            assertFalse(
                    PilafLogRecordDescriptor.isValid(other.memory(), other.view(), 0, RECORD.length() / 2, crc),
                    "byte " + at);
        }
    }
}
