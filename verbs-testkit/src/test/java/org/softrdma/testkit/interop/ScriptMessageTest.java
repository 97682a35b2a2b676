package org.softrdma.testkit.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.softrdma.testkit.interop.ScriptMessage.Command;

class ScriptMessageTest {
    private static final String READ =
            "0000000000000004" + "00007f0123456789" + "00000000fedcba98" + "0000000000100000";

    private static byte[] encoded(ScriptMessage message) {
        MemorySegment memory = MemorySegment.ofArray(new byte[(int) ScriptMessage.LENGTH]);
        message.encode(memory);
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldBeFourBigEndianWordsWithUnsignedKeys() {
        ScriptMessage message = ScriptMessage.access(Command.READ, 0x7f01_2345_6789L, 0xfedc_ba98, 1 << 20);
        assertEquals(READ, HexFormat.of().formatHex(encoded(message)));
        MemorySegment bytes = MemorySegment.ofArray(HexFormat.of().parseHex(READ));
        assertEquals(message, ScriptMessage.decode(bytes, ScriptMessage.LENGTH));
    }

    @Test
    void shouldRefuseEveryOtherLength() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[2 * (int) ScriptMessage.LENGTH]);
        for (long length = 0; length <= bytes.byteSize(); length++) {
            long wrong = length;
            if (wrong != ScriptMessage.LENGTH) {
                AssertionError refused = assertThrows(AssertionError.class, () -> ScriptMessage.decode(bytes, wrong));
                assertTrue(String.valueOf(refused.getMessage()).contains(" " + wrong + " bytes"), refused::getMessage);
            }
        }
    }

    @Test
    void shouldRefuseACommandThatDoesNotExist() {
        for (long command : new long[] {-1, Command.values().length, Long.MAX_VALUE}) {
            byte[] bytes = encoded(ScriptMessage.of(Command.SEND, 1));
            MemorySegment memory = MemorySegment.ofArray(bytes);
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN), 0, command);
            assertThrows(AssertionError.class, () -> ScriptMessage.decode(memory, ScriptMessage.LENGTH));
        }
    }
}
