package org.softrdma.farm.map;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.table.TableShape;

/** Bytes of a map's descriptor and of its calls. */
class MapLayoutsTest {
    private static final TableShape SHAPE = new TableShape(6, true, 2, 3, true, 0x101, 1, 0x0102_0304_0506_0708L);
    private static final String SHAPE_OF_A_CALL = "06000000 02000000 03000000 01010000 0807060504030201";

    private static String bytes(String hex) {
        return hex.replace(" ", "");
    }

    private static ByteBuffer call(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldLayOutADescriptorLikeThis() {
        TableShape two = new TableShape(6, true, 2, 3, true, 0x101, 2, 0x0102_0304_0506_0708L);
        ObjectImage image = new ObjectImage();
        image.reset(MapDescriptor.length(2), 0);
        MapDescriptor.put(image, two, new long[] {0x10, 0x2_0000_0030L});

        assertEquals(
                bytes("06000000 02000000 03000000 01010000 02000000 00000000 0807060504030201"
                        + " 1000000000000000 3000000002000000"),
                HexFormat.of()
                        .formatHex(image.segment()
                                .asSlice(
                                        FarmObjectDescriptor.PAYLOAD_OFFSET,
                                        image.length() - FarmObjectDescriptor.PAYLOAD_OFFSET)
                                .toArray(ValueLayout.JAVA_BYTE)));
        assertEquals(two, MapDescriptor.shape(image, true));
        assertArrayEquals(new long[] {0x10, 0x2_0000_0030L}, MapDescriptor.buckets(image));
    }

    @Test
    void shouldLayOutCallsLikeThis() {
        byte[] create = MapCallDescriptor.create(SHAPE, 4, 5, 6);
        assertEquals(
                bytes(SHAPE_OF_A_CALL + " 04000000 05000000 06000000 00000000"),
                HexFormat.of().formatHex(create));
        assertEquals(SHAPE, MapCallDescriptor.shape(call(create), true));
        assertEquals(4, MapCallDescriptor.from(call(create)));
        assertEquals(5, MapCallDescriptor.count(call(create)));
        assertEquals(6, MapCallDescriptor.epoch(call(create)));

        byte[] put = MapCallDescriptor.put(SHAPE, 7, new byte[] {1, 2}, new byte[] {3, 4, 5});
        assertEquals(
                bytes(SHAPE_OF_A_CALL + " 07000000 00000000 0102 030405"),
                HexFormat.of().formatHex(put));
        assertEquals(7, MapCallDescriptor.probes(call(put)));
        assertEquals(
                bytes(SHAPE_OF_A_CALL + " 0000000000000000 0102"),
                HexFormat.of().formatHex(MapCallDescriptor.remove(SHAPE, new byte[] {1, 2})));
        assertEquals(
                bytes(SHAPE_OF_A_CALL + " 0000000000000000"),
                HexFormat.of().formatHex(MapCallDescriptor.reserve(SHAPE)));
    }

    @Test
    void shouldTakeNoCallThatIsCut() {
        byte[] create = MapCallDescriptor.create(SHAPE, 4, 5, 6);
        for (int length = 0; length < create.length; length++) {
            ByteBuffer cut = call(create).slice(0, length).order(ByteOrder.LITTLE_ENDIAN);
            assertThrows(IllegalArgumentException.class, () -> MapCallDescriptor.from(cut), "length " + length);
        }
        ByteBuffer none = call(new byte[MapCallDescriptor.KEY_OFFSET]);
        assertThrows(IllegalArgumentException.class, () -> MapCallDescriptor.shape(none, true));
    }
}
