package org.softrdma.farm.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/** Buckets, pairs and pointers by their bytes. */
class TableLayoutsTest {
    private static final HexFormat HEX = HexFormat.of();

    private static String hex(ObjectImage image, int from, int to) {
        return HEX.formatHex(image.segment().asSlice(from, to - from).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    private static ObjectImage image(int length) {
        ObjectImage image = new ObjectImage();
        image.resize(length);
        return image;
    }

    /** The sizes that four-way arithmetic of the paper's 62 % rests on. */
    @Test
    void shouldHaveBucketsOf192BytesAndBlocksOf144AtSixNeighbours() {
        TableShape shape = TestTable.inline(6, 32, false, 8);
        assertEquals(184, shape.bucket().length());
        assertEquals(192, shape.stride());
        assertEquals(136, shape.block().length());
        assertEquals(144, shape.lengthInMemory(shape.block().length()));
        assertEquals(208, TestTable.inline(6, 32, true, 8).stride());
    }

    @Test
    void shouldLayABucketOutAsDrawn() {
        FarmBucketDescriptor layout = new FarmBucketDescriptor(2, 8);
        ObjectImage first = image(layout.length());
        ObjectImage second = image(layout.length());
        first.putLong(layout.slotOffset(1), 0x0807_0605_0403_0201L);
        layout.use(first, 1, true);
        layout.join(first, second);
        layout.join(first, second);
        FatPointerDescriptor.set(first, layout.nextOffset(), FarmAddress.of(3, 0x1000), second);

        String slots = "0000000000000000" + "0102030405060708";
        String state = "0200000000020000";
        String pointer = "0010000003000000" + "38000000" + "00000000";
        assertEquals(slots + state + pointer, hex(first, FarmBucketDescriptor.SLOTS_OFFSET, layout.length()));
        assertEquals("0000020000000000", hex(second, layout.stateOffset(), layout.nextOffset()));
        assertEquals(layout.forward(first), layout.backward(second));
        assertTrue(layout.isUsed(first, 1));
        assertFalse(layout.isUsed(first, 0));
        assertEquals(0, layout.freeSlot(first));
        assertEquals(1, layout.lastSlot(first));
        assertEquals(-1, layout.lastSlot(second));
        layout.use(first, 0, true);
        assertEquals(-1, layout.freeSlot(first));
    }

    @Test
    void shouldWrapJointVersionsWithoutTouchingWhatIsBeside() {
        FarmBucketDescriptor layout = new FarmBucketDescriptor(3, 8);
        ObjectImage first = image(layout.length());
        ObjectImage second = image(layout.length());
        first.putLong(layout.stateOffset(), HexFormat.fromHexDigitsToLong("ffffffabcdef0005"));
        second.putLong(layout.stateOffset(), HexFormat.fromHexDigitsToLong("123456ffffff0007"));

        layout.join(first, second);

        assertEquals(HexFormat.fromHexDigitsToLong("000000abcdef0005"), first.getLong(layout.stateOffset()));
        assertEquals(HexFormat.fromHexDigitsToLong("1234560000000007"), second.getLong(layout.stateOffset()));
    }

    @Test
    void shouldRefuseAPairWhoseLengthsAreNotItsObjects() {
        ObjectImage pair = image(FarmPairDescriptor.length(3, 5));
        pair.putInt(FarmPairDescriptor.KEY_LENGTH_OFFSET, 3);
        pair.putInt(FarmPairDescriptor.VALUE_LENGTH_OFFSET, 5);

        assertEquals("0300000005000000", hex(pair, 16, 24));
        assertTrue(FarmPairDescriptor.isValid(pair));
        for (int value : new int[] {4, 6, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            pair.putInt(FarmPairDescriptor.VALUE_LENGTH_OFFSET, value);
            assertFalse(FarmPairDescriptor.isValid(pair), "value of " + value);
        }
    }

    @Test
    void shouldSplitAddressesInRegionAndOffset() {
        long address = FarmAddress.of(5, 0x8000_0010L);
        assertEquals(0x0000_0005_8000_0010L, address);
        assertEquals(5, FarmAddress.region(address));
        assertEquals(0x8000_0010L, FarmAddress.offset(address));
    }
}
