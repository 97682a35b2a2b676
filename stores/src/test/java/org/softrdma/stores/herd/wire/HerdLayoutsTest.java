package org.softrdma.stores.herd.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.RemoteRegion;

/** Answers and first messages by their bytes, which were computed by other means; and lengths that do not fit. */
class HerdLayoutsTest {
    private static final String REPLY = "050000000c0b0a00070000000000000076616c756521";
    private static final String HELLO = "48524431010000008877665544332211";
    private static final String ANSWERS = "48524441111111112222222222222222c012000000000000";
    private static final String WELCOME = "48524431030003001000000080110000fa00000000100000111111112222222"
            + "2333333333333333344444444444444445555555555555555";

    private static MemorySegment zeroes(int length) {
        return MemorySegment.ofBuffer(ByteBuffer.allocateDirect(length));
    }

    private static MemorySegment bytes(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex));
    }

    private static String hex(MemorySegment memory) {
        return HexFormat.of().formatHex(memory.toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void shouldLayOutAnAnswer() {
        MemorySegment made = zeroes(REPLY.length() / 2);
        HerdReplyDescriptor.put(made, 0, 5, 0x0a0b0c, 7, HerdReplyDescriptor.DONE);
        MemorySegment.copy(bytes("76616c756521"), 0, made, HerdReplyDescriptor.VALUE_OFFSET, 6);
        assertEquals(REPLY, hex(made));
        assertEquals(REPLY.length() / 2, HerdReplyDescriptor.length(6));
        assertEquals(5, HerdReplyDescriptor.slot(made, 0));
        assertEquals(0x0a0b0c, HerdReplyDescriptor.number(made, 0));
        assertEquals(7, HerdReplyDescriptor.attempt(made, 0));
        assertEquals(HerdReplyDescriptor.DONE, HerdReplyDescriptor.status(made, 0));
    }

    @Test
    void shouldRefuseAnswersThatAreNone() {
        MemorySegment reply = bytes(REPLY);
        assertTrue(HerdReplyDescriptor.isValid(reply, 0, 22, 6));
        assertFalse(HerdReplyDescriptor.isValid(reply, 0, 22, 5), "no such slot");
        for (int length = 0; length < HerdReplyDescriptor.VALUE_OFFSET; length++) {
            assertFalse(HerdReplyDescriptor.isValid(reply, 0, length, 6), "of " + length);
        }
        reply.set(ValueLayout.JAVA_BYTE, 12, HerdReplyDescriptor.MISSING);
        assertFalse(HerdReplyDescriptor.isValid(reply, 0, 22, 6), "missing, with a value");
        assertTrue(HerdReplyDescriptor.isValid(reply, 0, 16, 6));
        reply.set(ValueLayout.JAVA_BYTE, 12, HerdReplyDescriptor.FULL);
        assertFalse(HerdReplyDescriptor.isValid(reply, 0, 22, 6), "full, with a value");
        assertTrue(HerdReplyDescriptor.isValid(reply, 0, 16, 6));
        reply.set(ValueLayout.JAVA_BYTE, 12, (byte) 3);
        assertFalse(HerdReplyDescriptor.isValid(reply, 0, 16, 6), "no status");
        reply.set(ValueLayout.JAVA_BYTE, 12, (byte) 0);
        reply.set(ValueLayout.JAVA_BYTE, 3, (byte) 0x80);
        assertFalse(HerdReplyDescriptor.isValid(reply, 0, 16, 6), "a negative slot");
    }

    @Test
    void shouldLayOutTheFirstMessages() {
        MemorySegment hello = zeroes(HerdHelloDescriptor.LENGTH);
        HerdHelloDescriptor.put(hello, 0, 0x1122_3344_5566_7788L);
        assertEquals(HELLO, hex(hello));
        assertEquals(0x1122_3344_5566_7788L, HerdHelloDescriptor.client(hello, 0));

        HerdWelcome told = new HerdWelcome(
                new HerdShape(3, 16, 4480),
                true,
                true,
                250,
                4096,
                0x2222_2222,
                0x3333_3333_3333_3333L,
                0x4444_4444_4444_4444L,
                new RemoteRegion(0x5555_5555_5555_5555L, 3 * 16 * 4480, 0x1111_1111));
        MemorySegment welcome = zeroes(HerdWelcomeDescriptor.LENGTH);
        HerdWelcomeDescriptor.put(welcome, 0, told);
        assertEquals(WELCOME, hex(welcome));
        assertEquals(told, HerdWelcomeDescriptor.get(welcome, 0));
    }

    @Test
    void shouldRefuseFirstMessagesThatAreNone() {
        for (int length = 0; length < HELLO.length() / 2; length++) {
            assertFalse(HerdHelloDescriptor.isValid(bytes(HELLO), 0, length));
        }
        assertTrue(HerdHelloDescriptor.isValid(bytes(HELLO), 0, 16));
        assertFalse(HerdHelloDescriptor.isValid(bytes(HELLO.replaceFirst("31", "30")), 0, 16), "magic");
        assertFalse(HerdHelloDescriptor.isValid(bytes(HELLO.replaceFirst("3101", "3102")), 0, 16), "version");

        assertTrue(isWelcome(WELCOME));
        for (int length = 0; length < WELCOME.length() / 2; length++) {
            assertFalse(HerdWelcomeDescriptor.isValid(bytes(WELCOME), 0, length));
        }
        assertFalse(isWelcome(WELCOME.replaceFirst("31", "30")), "magic");
        assertTrue(isWelcome(changed(8, "0100")), "answers are SENDs");
        assertFalse(isWelcome(changed(8, "0500")), "a flag that nobody knows");
        assertFalse(isWelcome(changed(12, "0000")), "no workers");
        assertFalse(isWelcome(changed(12, "0101")), "257 workers");
        assertFalse(isWelcome(changed(16, "00000000")), "no slots");
        assertFalse(isWelcome(changed(16, "ffffff7f")), "more than 2^31 bytes of slots");
        assertFalse(isWelcome(changed(24, "81110000")), "a slot that is no multiple of 64");
        assertFalse(isWelcome(changed(24, "00000080")), "a slot of a negative length");
        assertFalse(isWelcome(changed(32, "00000000")), "no key");
        assertFalse(isWelcome(changed(40, "ffffffff")), "a value of a negative length");
    }

    @Test
    void shouldLayOutWhereAnswersGo() {
        RemoteRegion answers = new RemoteRegion(0x2222_2222_2222_2222L, 4800, 0x1111_1111);
        MemorySegment made = zeroes(HerdAnswersDescriptor.LENGTH);
        HerdAnswersDescriptor.put(made, 0, answers);
        assertEquals(ANSWERS, hex(made));
        assertEquals(answers, HerdAnswersDescriptor.get(made, 0));
        assertTrue(HerdAnswersDescriptor.isValid(made, 0, 24, 4800));
        assertFalse(HerdAnswersDescriptor.isValid(made, 0, 23, 4800), "too short");
        assertFalse(HerdAnswersDescriptor.isValid(made, 0, 24, 4864), "too few answer slots");
        made.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        assertFalse(HerdAnswersDescriptor.isValid(made, 0, 24, 4800), "magic");
    }

    private static boolean isWelcome(String hex) {
        return HerdWelcomeDescriptor.isValid(bytes(hex), 0, WELCOME.length() / 2);
    }

    private static String changed(int at, String digits) {
        return WELCOME.substring(0, at) + digits + WELCOME.substring(at + digits.length());
    }

    @Test
    void shouldGiveEachWorkerItsPartOfTheHashes() {
        HerdShape shape = new HerdShape(3, 4, 64);
        assertEquals(0, shape.worker(0));
        assertEquals(0, shape.worker(0x5555_ffff_ffff_ffffL));
        assertEquals(1, shape.worker(0x5556_0000_0000_0000L));
        assertEquals(2, shape.worker(-1));
        assertEquals(12, shape.slots());
        assertEquals(4, shape.firstSlot(1));
        assertEquals(2 * 64, shape.end(1));
        assertThrows(IllegalArgumentException.class, () -> new HerdShape(257, 1, 64));
        assertThrows(IllegalArgumentException.class, () -> new HerdShape(1, 1, 100));
        assertThrows(IllegalArgumentException.class, () -> new HerdShape(256, 1 << 20, 64));
    }
}
