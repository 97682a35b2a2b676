package org.softrdma.stores.herd.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.herd.wire.HerdRequestForm.Found;

/** Requests in slots, in both forms: their bytes, and which of them are taken. */
class HerdRequestsTest {
    private static final String PUT =
            "6b657976616c75652100000000000000020003000600000005000000070000000c0b0a005e408e18";
    private static final String GET = "6b65790000000000010003000000000005000000010000000d0b0a00607eebdd";
    private static final int NUMBER = 0x0a0b0c;
    private static final int SLOT = 5;
    private static final int SLOT_LENGTH = 128;
    private static final int END = (SLOT + 1) * SLOT_LENGTH;

    private final ByteBuffer view =
            ByteBuffer.allocateDirect(8 * SLOT_LENGTH + 8).alignedSlice(8);
    private final MemorySegment slots = MemorySegment.ofBuffer(view);
    private final HerdRequestForm numbered = HerdForms.of(Protocol.SAFE, 10, 40, 9);
    private final HerdRequestForm cleared = HerdForms.of(Protocol.PAPER, 10, 40, 9);
    private final HerdRequest request = new HerdRequest(200);
    private final long[] seen = new long[8];

    private int put(HerdRequestForm form, HerdTestRequest asked) {
        return form.put(slots, view, END, asked);
    }

    private Found take(HerdRequestForm form) {
        return form.take(slots, END, SLOT, seen, MemorySteps.OF_JVM, request);
    }

    private String written(int length) {
        return HexFormat.of().formatHex(slots.asSlice(END - length, length).toArray(ValueLayout.JAVA_BYTE));
    }

    private void write(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, slots, END - bytes.length, bytes.length);
    }

    private String text(long at, int length) {
        return new String(
                request.memory().asSlice(at, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }

    @Test
    void shouldLayOutRequestsAtTheEndOfTheirSlot() {
        slots.fill((byte) -1);
        assertEquals(PUT, written(put(numbered, HerdTestRequest.put(SLOT, NUMBER, 7))));
        assertEquals(-1, slots.get(ValueLayout.JAVA_BYTE, END - PUT.length() / 2 - 1), "before it");
        assertEquals(GET, written(put(numbered, HerdTestRequest.get(SLOT, NUMBER + 1, 1))));
        assertTrue(numbered.maxLength() >= HerdRequestDescriptor.length(10, 40));
    }

    @Test
    void shouldTakeARequestOnceAndEachAttemptOfIt() {
        assertEquals(Found.NOTHING, take(numbered));
        write(PUT);
        assertEquals(Found.REQUEST, take(numbered));
        assertEquals(OperationKind.PUT, request.operation());
        assertEquals("key", text(request.key(), request.keyLength()));
        assertEquals("value!", text(request.value(), request.valueLength()));
        assertEquals(NUMBER, request.number());
        assertEquals(7, request.attempt());
        assertEquals(SLOT, request.slot());
        assertEquals(Found.NOTHING, take(numbered));

        for (int attempt = 1; attempt < 300; attempt++) {
            int ignored = put(numbered, HerdTestRequest.put(SLOT, NUMBER, attempt));
            assertEquals(Found.REQUEST, take(numbered), "attempt " + attempt);
            assertEquals(attempt, request.attempt());
        }
        write(GET);
        assertEquals(Found.REQUEST, take(numbered));
        assertEquals(OperationKind.GET, request.operation());
        assertEquals(0, request.valueLength());
    }

    /** Its bytes may land in any order, in pieces of any size. */
    @Test
    void shouldTakeNoPartOfARequest() {
        byte[] bytes = HexFormat.of().parseHex(PUT);
        Random random = new Random(3);
        for (int round = 0; round < 2000; round++) {
            Arrays.fill(seen, 0);
            slots.fill((byte) 0);
            write(GET);
            if (round % 2 == 0) {
                assertEquals(Found.REQUEST, take(numbered));
            }
            boolean[] landed = new boolean[bytes.length];
            int left = bytes.length;
            while (left > 0) {
                int at = random.nextInt(bytes.length);
                if (!landed[at]) {
                    landed[at] = true;
                    left--;
                    slots.set(ValueLayout.JAVA_BYTE, END - bytes.length + at, bytes[at]);
                    boolean isThere = written(bytes.length).equals(PUT);
                    Found found = take(numbered);
                    if (found == Found.REQUEST && !isThere) {
                        assertEquals(GET, written(GET.length() / 2), "a part was taken");
                    } else if (isThere && found != Found.NOTHING) {
                        assertEquals(Found.REQUEST, found);
                    }
                }
            }
            assertEquals(HerdRequestDescriptor.pollWord(slots, END), seen[SLOT]);
        }
    }

    @Test
    void shouldRefuseWhatNoClientOfOursWrites() {
        assertEquals(Found.WRONG, wrong(HerdTestRequest.put(SLOT + 1, NUMBER, 1), -1, 0), "another slot");
        assertEquals(Found.WRONG, wrong(HerdTestRequest.put(SLOT, 0, 1), -1, 0), "no number");
        assertEquals(Found.WRONG, wrong(HerdTestRequest.get(SLOT, NUMBER, 1), -24, 0), "no operation");
        assertEquals(Found.WRONG, wrong(HerdTestRequest.get(SLOT, NUMBER, 1), -24, 4), "no operation");
        assertEquals(Found.WRONG, wrong(HerdTestRequest.get(SLOT, NUMBER, 1), -23, 1), "not zero");
        assertEquals(Found.WRONG, wrong(HerdTestRequest.put(SLOT, NUMBER, 1), -24, 1), "a GET with a value");
        assertEquals(Found.WRONG, wrong(HerdTestRequest.get(SLOT, NUMBER, 1), -22, 0), "no key");
        assertEquals(Found.PART, wrong(HerdTestRequest.get(SLOT, NUMBER, 1), -22, 11), "too long a key");
        assertEquals(Found.PART, wrong(HerdTestRequest.get(SLOT, NUMBER, 1), -21, 0x7f), "too long a key");
        assertEquals(Found.PART, wrong(HerdTestRequest.put(SLOT, NUMBER, 1), -20, 41), "too long a value");
        assertEquals(Found.PART, wrong(HerdTestRequest.put(SLOT, NUMBER, 1), -17, 0x80), "a negative length");
    }

    /** A request of which a byte is another, with a checksum that fits. */
    private Found wrong(HerdTestRequest asked, int offset, int value) {
        int length = put(numbered, asked);
        if (offset != -1) {
            slots.set(ValueLayout.JAVA_BYTE, END + offset, (byte) value);
        }
        int valueLength = slots.get(ValueLayout.JAVA_INT_UNALIGNED, END - 20L);
        int keyLength = slots.get(ValueLayout.JAVA_SHORT_UNALIGNED, END - 22L);
        if (valueLength >= 0 && valueLength <= 40) {
            length = HerdRequestDescriptor.length(keyLength, valueLength);
        }
        if (length < SLOT_LENGTH) {
            CRC32C crc = new CRC32C();
            crc.update(view.clear().limit(END - 4).position(END - length));
            HerdRequestDescriptor.putCrc(slots, END, (int) crc.getValue());
            view.clear();
        }
        return take(numbered);
    }

    @Test
    void shouldBelieveNoLengthThatAPeerSends() {
        Random random = new Random(5);
        byte[] noise = new byte[SLOT_LENGTH];
        for (int round = 0; round < 20_000; round++) {
            random.nextBytes(noise);
            MemorySegment.copy(MemorySegment.ofArray(noise), 0, slots, END - SLOT_LENGTH, SLOT_LENGTH);
            assertNotEquals(Found.REQUEST, take(numbered));
            Found found = take(cleared);
            assertTrue(found == Found.WRONG || found == Found.REQUEST || found == Found.NOTHING);
        }
    }

    @Test
    void shouldLayOutAndTakeRequestsAsPublished() {
        assertEquals(16, put(cleared, HerdTestRequest.get(SLOT, 1, 1)));
        MemorySegment key = MemorySegment.ofArray("key".getBytes(StandardCharsets.US_ASCII));
        long first = cleared.hash(key, 0, 3);
        assertEquals(
                HexFormat.of().toHexDigits(Long.reverseBytes(first)),
                written(16).substring(0, 16));
        String words = written(16);
        assertEquals(Found.REQUEST, take(cleared));
        byte[] taken = request.memory().asSlice(request.key(), 16).toArray(ValueLayout.JAVA_BYTE);
        assertEquals(words, HexFormat.of().formatHex(taken), "copied before it is cleared");
        assertEquals(OperationKind.GET, request.operation());
        assertEquals(16, request.keyLength());
        assertEquals(first, request.hash());
        assertEquals(Found.NOTHING, take(cleared), "the server has cleared it");

        int length = put(cleared, HerdTestRequest.put(SLOT, 1, 1));
        assertEquals(32, length);
        assertEquals("76616c75652100000700000000000000", written(length).substring(0, 32));
        assertEquals(Found.REQUEST, take(cleared));
        assertEquals("value!", text(request.value(), request.valueLength()));
        assertEquals(0, HerdClearedRequestDescriptor.command(slots, END), "else the next GET would be a PUT");

        int remove = put(cleared, new HerdTestRequest(OperationKind.REMOVE, 0, SLOT, 1, 1));
        assertEquals(24, remove);
        assertEquals(Found.REQUEST, take(cleared));
        assertEquals(OperationKind.REMOVE, request.operation());

        int ignored = put(cleared, HerdTestRequest.put(SLOT, 1, 1));
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, END - 24L, 42);
        assertEquals(Found.WRONG, take(cleared), "too long a value");
        assertFalse(cleared.isNumbered());
        assertTrue(numbered.isNumbered());
    }
}
