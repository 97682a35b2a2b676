package org.softrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class BytePatternTest {
    private static final BytePattern PATTERN = new BytePattern(42);

    @Test
    void shouldHoldWhenFilled() {
        for (int length : new int[] {0, 1, 7, 8, 9, 1000}) {
            MemorySegment memory = MemorySegment.ofArray(new byte[length]);
            PATTERN.fill(memory);
            PATTERN.require(memory, "memory");
            PATTERN.requirePart(memory.asSlice(length / 3), length / 3, "its rest");
        }
    }

    @Test
    void shouldNameTheByteWhenOneIsWrong() {
        for (int wrong = 0; wrong < 100; wrong++) {
            MemorySegment memory = MemorySegment.ofArray(new byte[100]);
            PATTERN.fill(memory);
            memory.set(ValueLayout.JAVA_BYTE, wrong, (byte) (PATTERN.at(wrong) ^ 1));
            AssertionError error = assertThrows(AssertionError.class, () -> PATTERN.require(memory, "sink"));
            assertTrue(
                    String.valueOf(error.getMessage()).startsWith("sink: byte " + wrong + " of 100 "),
                    error.toString());
            assertThrows(AssertionError.class, () -> PATTERN.requirePart(memory, 0, "sink"));
        }
    }

    @Test
    void shouldNotHoldWhenSeedOrPlaceDiffers() {
        MemorySegment memory = MemorySegment.ofArray(new byte[64]);
        PATTERN.fill(memory);
        assertTrue(PATTERN.matches(memory));
        assertFalse(new BytePattern(43).matches(memory));
        assertFalse(PATTERN.matches(memory.asSlice(1)));
        assertThrows(AssertionError.class, () -> PATTERN.requirePart(memory.asSlice(8), 0, "moved by a word"));
    }

    @Test
    void shouldNameTheByteWhenFilledMemoryHasChanged() {
        for (int length : new int[] {1, 8, 21}) {
            for (int changed = 0; changed < length; changed++) {
                MemorySegment memory = MemorySegment.ofArray(new byte[length]);
                memory.fill(BytePattern.POISON);
                BytePattern.requireAll(memory, BytePattern.POISON, "guard");
                memory.set(ValueLayout.JAVA_BYTE, changed, (byte) 0x11);
                AssertionError error = assertThrows(
                        AssertionError.class, () -> BytePattern.requireAll(memory, BytePattern.POISON, "guard"));
                assertEquals(
                        "guard: byte " + changed + " of " + length + " changed to 0x11 from 0xdb", error.getMessage());
            }
        }
    }

    @Test
    void shouldNameTheByteWhenItIsNeitherOfTwo() {
        for (int wrong = 0; wrong < 21; wrong++) {
            MemorySegment memory = MemorySegment.ofArray(new byte[21]);
            memory.asSlice(0, wrong).fill((byte) 1);
            BytePattern.requireEither(memory, (byte) 1, (byte) 0, "target");
            memory.set(ValueLayout.JAVA_BYTE, wrong, BytePattern.POISON);
            AssertionError error = assertThrows(
                    AssertionError.class, () -> BytePattern.requireEither(memory, (byte) 1, (byte) 0, "target"));
            assertEquals("target: byte " + wrong + " of 21 is 0xdb, expected 0x01 or 0x00", error.getMessage());
        }
    }
}
