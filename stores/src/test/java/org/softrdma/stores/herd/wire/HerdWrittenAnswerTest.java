package org.softrdma.stores.herd.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Answers that are WRITEs, by their bytes, which were computed by other means; and what is not there as a whole. */
class HerdWrittenAnswerTest {
    private static final int NUMBER = 0x0a0b0c;
    private static final int SLOT_LENGTH = 64;

    /** An answer of 22 bytes, two zeroes, and the trailer. */
    private static final String SEALED =
            "050000000c0b0a00070000000000000076616c7565210000" + "16000000000000000c0b0a00" + "CRC";

    private final HerdWrittenAnswer answer = new HerdWrittenAnswer(24);
    private final ByteBuffer view = ByteBuffer.allocateDirect(4 * SLOT_LENGTH);
    private final MemorySegment memory = MemorySegment.ofBuffer(view);

    /** Lays out an answer at the beginning; returns what is WRITTEN. */
    private byte[] sealed(int number, String value) {
        memory.fill((byte) 0x55);
        HerdReplyDescriptor.put(memory, 0, 5, number, 7, HerdReplyDescriptor.DONE);
        byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, HerdReplyDescriptor.VALUE_OFFSET, bytes.length);
        int length = answer.seal(memory, view, 0, HerdReplyDescriptor.length(bytes.length));
        return memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private int take(byte[] slot, int number) {
        MemorySegment slots = MemorySegment.ofBuffer(
                ByteBuffer.allocateDirect(SLOT_LENGTH + 8).alignedSlice(8));
        MemorySegment.copy(slot, 0, slots, ValueLayout.JAVA_BYTE, SLOT_LENGTH - (long) slot.length, slot.length);
        return answer.take(slots, SLOT_LENGTH, number);
    }

    @Test
    void shouldPutTheTrailerBehindTheAnswer() {
        byte[] made = sealed(NUMBER, "value!");
        String hex = HexFormat.of().formatHex(made);
        assertEquals(SEALED.replace("CRC", ""), hex.substring(0, hex.length() - 8));
        CRC32C crc = new CRC32C();
        crc.update(made, 0, made.length - 4);
        assertEquals(
                (int) crc.getValue(),
                ByteBuffer.wrap(made).order(ByteOrder.LITTLE_ENDIAN).getInt(36));
        assertEquals(40, HerdWrittenAnswer.length(22));
        assertEquals(40, HerdWrittenAnswer.length(24));
    }

    @Test
    void shouldTakeAWholeAnswerToItsNumber() {
        byte[] made = sealed(NUMBER, "value!");
        assertEquals(22, take(made, NUMBER));
        assertEquals(7, HerdReplyDescriptor.attempt(answer.memory(), 0));
        assertEquals(
                "value!",
                new String(answer.memory().asSlice(16, 6).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII));
        assertEquals(-1, take(made, NUMBER + 1), "it answers another request");
    }

    @Test
    void shouldTakeNothingWhoseBytesAreNotAllThere() {
        byte[] made = sealed(NUMBER, "value!");
        for (int missing = 0; missing < made.length; missing++) {
            byte[] part = made.clone();
            part[missing] ^= 0x10;
            assertEquals(-1, take(part, NUMBER), "byte " + missing + " is of another answer");
        }
    }

    @Test
    void shouldTakeNothingThatIsTooLongOrTooShort() {
        for (int length : new int[] {0, 15, 25, 64, 1 << 20, -1, Integer.MIN_VALUE}) {
            byte[] made = sealed(NUMBER, "value!");
            ByteBuffer.wrap(made).order(ByteOrder.LITTLE_ENDIAN).putInt(24, length);
            assertEquals(-1, take(made, NUMBER), "an answer of " + length);
        }
        assertTrue(take(sealed(NUMBER, ""), NUMBER) == HerdReplyDescriptor.VALUE_OFFSET);
    }
}
