package org.softrdma.kv.message;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.item.Locator;

class RdmaDescriptorsTest {
    private static final String TOKEN = "00112233445566778899aabbccddeeff";

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(128);

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void shouldWriteAndReadGoldenHello() {
        HelloDescriptor.write(memory, 4, TOKEN);
        assertEquals("53524b56" + "02000000" + TOKEN, hex(4, HelloDescriptor.LENGTH));
        assertTrue(HelloDescriptor.isValid(memory, 4, HelloDescriptor.LENGTH));
        assertEquals(TOKEN, HelloDescriptor.token(memory, 4));
    }

    @Test
    void shouldRefuseHelloOfOtherLengthMagicOrVersion() {
        HelloDescriptor.write(memory, 0, TOKEN);
        for (int length = 0; length < 2 * HelloDescriptor.LENGTH; length++) {
            assertEquals(length == HelloDescriptor.LENGTH, HelloDescriptor.isValid(memory, 0, length));
        }
        for (int i = 0; i < 8; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (memory.get(ValueLayout.JAVA_BYTE, i) ^ 1));
            assertFalse(HelloDescriptor.isValid(memory, 0, HelloDescriptor.LENGTH), "byte " + i);
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (memory.get(ValueLayout.JAVA_BYTE, i) ^ 1));
        }
        assertThrows(IllegalArgumentException.class, () -> HelloDescriptor.write(memory, 0, "0011"));
    }

    @Test
    void shouldFindTheTokenInPrivateDataAlsoIfItIsPadded() {
        byte[] golden = HexFormat.of().parseHex("53524b56" + "02000000" + TOKEN);
        assertArrayEquals(golden, HelloDescriptor.privateData(TOKEN));
        for (int length = 0; length < 148; length++) {
            byte[] came = Arrays.copyOf(golden, length);
            Optional<String> expected = length < golden.length ? Optional.empty() : Optional.of(TOKEN);
            assertEquals(expected, HelloDescriptor.tokenOf(came), length + " bytes");
        }
        for (int i = 0; i < 8; i++) {
            byte[] other = golden.clone();
            other[i] ^= 1;
            assertEquals(Optional.empty(), HelloDescriptor.tokenOf(other), "byte " + i);
        }
    }

    @Test
    void shouldTellWhyAConnectIsRefused() {
        for (Refusal each : Refusal.values()) {
            byte[] told = each.privateData(56);
            assertEquals(each.text(), Refusal.textOf(told), "the least private data that a device has");
            assertEquals(each.text(), Refusal.textOf(Arrays.copyOf(told, 148)), "padded");
            assertEquals(0, each.privateData(0).length);
        }
        assertEquals("", Refusal.textOf(new byte[0]));
        assertEquals("", Refusal.textOf(new byte[] {'a', 27, '['}), "nothing for a terminal");
        assertEquals("", Refusal.textOf(new byte[] {-1}));
    }

    @Test
    void shouldWriteAndReadGoldenAnswer() {
        Locator locator = new Locator(0x11223344, 0x80, 0x60, 5, 7);
        AnswerDescriptor.write(memory, 0, AnswerDescriptor.BUFFER_TOO_SMALL, -2, 0xF000_0001L, locator, 0x58);
        assertEquals(
                "feffffffffffffff" + "44332211" + "10000000" + "60000005" + "07000000" + "02000000" + "58000000"
                        + "010000f0" + "00000000",
                hex(0, AnswerDescriptor.LENGTH));
        assertEquals(-2, AnswerDescriptor.opaque(memory, 0));
        assertEquals(
                locator,
                Locator.of(AnswerDescriptor.locatorFirst(memory, 0), AnswerDescriptor.locatorSecond(memory, 0)));
        assertEquals(AnswerDescriptor.BUFFER_TOO_SMALL, AnswerDescriptor.status(memory, 0));
        assertEquals(0x58, AnswerDescriptor.itemLength(memory, 0));
        assertEquals(0xF000_0001L, AnswerDescriptor.clockSeconds(memory, 0));
        assertTrue(AnswerDescriptor.isValid(AnswerDescriptor.LENGTH));
        assertFalse(AnswerDescriptor.isValid(AnswerDescriptor.LENGTH - 1));
        assertFalse(AnswerDescriptor.isValid(AnswerDescriptor.LENGTH + 1));
    }

    @Test
    void shouldWriteAnswerWithoutItem() {
        AnswerDescriptor.writeNotFound(memory, 0, 3, 4);
        assertEquals(
                "0300000000000000" + "00".repeat(16) + "01000000" + "00000000" + "04000000" + "00000000",
                hex(0, AnswerDescriptor.LENGTH));
    }

    @Test
    void shouldWriteAndReadAnswerToTouchReport() {
        AnswerDescriptor.writeControl(memory, 0, AnswerDescriptor.TOUCHED, 4, 60);
        assertEquals(
                "00".repeat(24) + "04000000" + "00000000" + "04000000" + "3c000000", hex(0, AnswerDescriptor.LENGTH));
        assertEquals(60, AnswerDescriptor.touchIntervalSeconds(memory, 0));
    }

    @Test
    void shouldWriteAndReadGoldenTouchReport() {
        TouchReportDescriptor.header(memory, 8, 2, 0x01020304);
        TouchReportDescriptor.record(memory, 8, 0, 0x0102030405060708L, 0x11121314, 5);
        TouchReportDescriptor.record(memory, 8, 1, -1, -2, Integer.MAX_VALUE);
        String golden = "53524b54" + "02000000" + "02000000" + "04030201"
                + "0807060504030201" + "14131211" + "05000000"
                + "ffffffffffffffff" + "feffffff" + "ffffff7f";
        assertEquals(golden, hex(8, TouchReportDescriptor.length(2)));
        assertTrue(TouchReportDescriptor.isValid(memory, 8, TouchReportDescriptor.length(2)));
        assertEquals(2, TouchReportDescriptor.count(memory, 8));
        assertEquals(0x01020304, TouchReportDescriptor.unnamedHits(memory, 8));
        assertEquals(0x0102030405060708L, TouchReportDescriptor.first(memory, 8, 0));
        assertEquals(-2, TouchReportDescriptor.generation(memory, 8, 1));
        assertEquals(Integer.MAX_VALUE, TouchReportDescriptor.hits(memory, 8, 1));
    }

    @Test
    void shouldRefuseTouchReportOfOtherLengthCountMagicOrVersion() {
        for (int count : new int[] {-1, 0, 1, 2, 256, 257, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            for (int unnamed : new int[] {Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE}) {
                TouchReportDescriptor.header(memory, 0, count, unnamed);
                for (int length = 0; length < 2 * TouchReportDescriptor.MAX_LENGTH; length++) {
                    boolean fits = count >= 0
                            && count <= 256
                            && length == 16 + 16 * count
                            && (unnamed > 0 || (unnamed == 0 && count > 0));
                    assertEquals(
                            fits,
                            TouchReportDescriptor.isValid(memory, 0, length),
                            count + " records and " + unnamed + " more READs in " + length);
                }
            }
        }
        TouchReportDescriptor.header(memory, 0, 1, 0);
        for (int at = 0; at < 8; at++) {
            byte right = memory.get(ValueLayout.JAVA_BYTE, at);
            memory.set(ValueLayout.JAVA_BYTE, at, (byte) (right + 1));
            assertFalse(TouchReportDescriptor.isValid(memory, 0, 32));
            memory.set(ValueLayout.JAVA_BYTE, at, right);
        }
        assertTrue(TouchReportDescriptor.isValid(memory, 0, 32));
    }

    private String hex(long offset, int length) {
        return HexFormat.of().formatHex(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
    }
}
