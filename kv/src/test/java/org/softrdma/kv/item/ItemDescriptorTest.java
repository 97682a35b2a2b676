package org.softrdma.kv.item;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.turns.Turns;

class ItemDescriptorTest {
    private static final ItemWriter WRITER = new ItemWriter(Turns.OF_JVM);
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);
    private static final HexFormat HEX = HexFormat.of();

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(512, 8);

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void shouldWriteTheGoldenBytes() {
        long item = 8;
        publish(item);
        WRITER.kill(memory, item);
        WRITER.forward(memory, item, 0x0000_0010_1234_5678L, 0x0000_0007_0500_0060L);

        long length = ItemDescriptor.itemLength(KEY.length, VALUE.length);
        byte[] bytes = memory.asSlice(item, length).toArray(ValueLayout.JAVA_BYTE);
        assertEquals(
                "02000000" + "02000000" // generation: published 1, killed 2; sequence
                        + "8877665544332211" // cas
                        + "ffffff7f" // expiry
                        + "efbeadde" // flags
                        + "05000000" // value length
                        + "03" + "00" + "0100" // key length, item flags, version
                        + le(crc(new CRC32())) + le(crc(new CRC32C()))
                        + "7856341210000000" + "6000000507000000" // forward
                        + "6b6579" + "76616c7565" // key, value
                        + "00000000" // padding
                        + "02000000", // tail
                HEX.formatHex(bytes));
    }

    @Test
    void shouldReadTheFieldsBack() {
        publish(0);
        assertEquals(1, ItemDescriptor.generation(memory, 0));
        assertEquals(2, ItemDescriptor.sequence(memory, 0));
        assertEquals(2, ItemDescriptor.tail(memory, 0, ItemDescriptor.itemLength(KEY.length, VALUE.length)));
        assertEquals(0x1122_3344_5566_7788L, ItemDescriptor.cas(memory, 0));
        assertEquals(Integer.MAX_VALUE, ItemDescriptor.expiry(memory, 0));
        assertEquals(0xDEADBEEF, ItemDescriptor.flags(memory, 0));
        assertEquals(VALUE.length, ItemDescriptor.valueLength(memory, 0));
        assertEquals(KEY.length, ItemDescriptor.keyLength(memory, 0));
        assertEquals(ItemDescriptor.VERSION, ItemDescriptor.version(memory, 0));
        assertTrue(ItemDescriptor.hasKey(memory, 0, new KeySlice(KEY)));
        assertTrue(ItemDescriptor.hasKey(memory, 0, KEY));
        assertFalse(ItemDescriptor.hasKey(memory, 0, new KeySlice().wrap(VALUE, 0, KEY.length)));
        assertFalse(ItemDescriptor.hasKey(memory, 0, new KeySlice().wrap(KEY, 0, KEY.length - 1)));
    }

    /** Keys of every length, and others that differ from them in one byte, whichever. */
    @Test
    void shouldKnowItsKeyByEveryByte() {
        byte[] key = new byte[ItemDescriptor.MAX_KEY_LENGTH + 1];
        new Random(42).nextBytes(key);
        for (int length = 1; length <= ItemDescriptor.MAX_KEY_LENGTH; length++) {
            KeySlice slice = new KeySlice().wrap(key, 1, length);
            WRITER.beginFill(memory, 0);
            WRITER.header(memory, 0, 0, 0, slice, 0);
            assertTrue(ItemDescriptor.hasKey(memory, 0, slice), "length " + length);
            for (int i = 1; i <= length; i++) {
                key[i] ^= 1;
                assertFalse(ItemDescriptor.hasKey(memory, 0, slice), "length " + length + ", byte " + i);
                key[i] ^= 1;
            }
        }
    }

    @Test
    void shouldHaveOddSequenceWhileBeingFilled() {
        publish(0);
        WRITER.kill(memory, 0);
        WRITER.forward(memory, 0, 1, 1);
        WRITER.beginFill(memory, 0);
        assertEquals(3, ItemDescriptor.sequence(memory, 0));
        assertEquals(2, ItemDescriptor.generation(memory, 0));
        assertEquals(0, ItemDescriptor.forwardFirst(memory, 0));
        assertEquals(0, ItemDescriptor.forwardSecond(memory, 0));
        WRITER.beginFill(memory, 0); // the first filling was abandoned
        assertEquals(5, ItemDescriptor.sequence(memory, 0));
    }

    @Test
    void shouldRoundItemLengthUpToEight() {
        assertEquals(64, ItemDescriptor.itemLength(1, 0));
        assertEquals(64, ItemDescriptor.itemLength(1, 3));
        assertEquals(72, ItemDescriptor.itemLength(1, 4));
    }

    @Test
    void shouldHaveTheSameChecksumWhetherItIsCopiedFirstOrNot() {
        publish(64); // not at the start, and with other bytes behind it
        int length = (int) ItemDescriptor.itemLength(KEY.length, VALUE.length);
        long expected = ItemDescriptor.checksum(memory, 64);
        for (int copied = length - 1; copied <= length + 1; copied++) {
            ItemChecksum checksum = new ItemChecksum(copied);
            for (int i = 0; i < 2; i++) {
                assertEquals(
                        expected,
                        checksum.compute(memory.asByteBuffer(), 64, KEY.length, VALUE.length),
                        "an item of " + length + " bytes, up to " + copied + " copied, time " + i);
            }
        }
    }

    private void publish(long item) {
        WRITER.beginFill(memory, item);
        WRITER.header(memory, item, Integer.MAX_VALUE, 0xDEADBEEF, new KeySlice(KEY), VALUE.length);
        MemorySegment.copy(
                VALUE, 0, memory, ValueLayout.JAVA_BYTE, ItemDescriptor.valueOffset(memory, item), VALUE.length);
        WRITER.endFill(memory, item, 0x1122_3344_5566_7788L);
        WRITER.seal(
                memory, item, new ItemChecksum(0).compute(memory.asByteBuffer(), (int) item, KEY.length, VALUE.length));
        WRITER.publish(memory, item);
    }

    /** The checksum by the letter of the layout, not by the code under test. */
    private static int crc(Checksum crc) {
        crc.update(HEX.parseHex("8877665544332211"));
        crc.update(HEX.parseHex("efbeadde" + "05000000" + "03"));
        crc.update(KEY);
        crc.update(VALUE);
        crc.update(HEX.parseHex("00000000" + "02000000")); // padding and tail
        return (int) crc.getValue();
    }

    private static String le(int value) {
        return HEX.toHexDigits(Integer.reverseBytes(value));
    }
}
