package org.softrdma.stores.herd.mica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Index entries and pairs by their bytes. */
class MicaLayoutsTest {
    private static final String PAIR = "03000000060000006b657976616c756521000000000000";
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value!".getBytes(StandardCharsets.US_ASCII);

    /** Bits 24 to 46 of the hash are 0x123456, those around them ones. */
    private static final long HASH = 0xffff_8000_00ff_ffffL | 0x123456L << 24;

    @Test
    void shouldLayOutAnIndexEntry() {
        long entry = MicaSlotDescriptor.of(HASH, 0xfed_cba9_8765_4321L);
        assertEquals(0x9234_56a9_8765_4321L, entry);
        assertTrue(MicaSlotDescriptor.isUsed(entry));
        assertFalse(MicaSlotDescriptor.isUsed(MicaSlotDescriptor.FREE));
        assertEquals(0xa9_8765_4321L, MicaSlotDescriptor.units(entry));
        assertTrue(MicaSlotDescriptor.hasTag(entry, MicaSlotDescriptor.tag(HASH)));
        for (int bit = 0; bit < Long.SIZE; bit++) {
            boolean isOfTag = bit >= 24 && bit < 47;
            boolean same = MicaSlotDescriptor.hasTag(entry, MicaSlotDescriptor.tag(HASH ^ 1L << bit));
            assertEquals(!isOfTag, same, "bit " + bit);
        }
    }

    @Test
    void shouldLayOutAPair() {
        MemorySegment made = MemorySegment.ofArray(new byte[24]);
        MicaPairDescriptor.putLengths(made, 0, KEY.length, VALUE.length);
        MemorySegment.copy(MemorySegment.ofArray(KEY), 0, made, MicaPairDescriptor.KEY_OFFSET, KEY.length);
        assertEquals(11, MicaPairDescriptor.valueOffset(made, 0));
        MemorySegment.copy(MemorySegment.ofArray(VALUE), 0, made, 11, VALUE.length);
        String bytes = HexFormat.of().formatHex(made.toArray(ValueLayout.JAVA_BYTE));
        assertEquals(PAIR + "00", bytes);
        assertEquals(24, MicaPairDescriptor.length(KEY.length, VALUE.length));
        assertEquals(16, MicaPairDescriptor.length(KEY.length, 5));
        assertEquals(KEY.length, MicaPairDescriptor.keyLength(made, 0));
        assertEquals(VALUE.length, MicaPairDescriptor.valueLength(made, 0));
        assertTrue(MicaPairDescriptor.isOf(made, 0, MemorySegment.ofArray(KEY), 0, KEY.length));
        assertFalse(MicaPairDescriptor.isOf(made, 0, MemorySegment.ofArray(KEY), 0, 2), "the beginning of a key");
        assertFalse(MicaPairDescriptor.isOf(made, 0, MemorySegment.ofArray(VALUE), 0, 3));
    }
}
