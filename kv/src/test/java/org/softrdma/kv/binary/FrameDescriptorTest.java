package org.softrdma.kv.binary;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Golden bytes: those of the examples in memcached's description of the protocol, and some of our own. */
class FrameDescriptorTest {
    private static final HexFormat HEX = HexFormat.of();

    private static byte[] bytes(String hex) {
        return HEX.parseHex(hex.replaceAll("\\s", ""));
    }

    private static BinaryRequest request(String hex) {
        BinaryDecoder decoder = new BinaryDecoder();
        assertEquals(BinaryDecoder.Event.REQUEST, decoder.next(ByteBuffer.wrap(bytes(hex))));
        return decoder.request();
    }

    private static String made(AnswerFrame frame) {
        return HEX.formatHex(frame.bytes(), 0, frame.length());
    }

    @Test
    void shouldReadAndWriteEveryFieldOfAHeader() {
        byte[] frame = new byte[FrameDescriptor.LENGTH];
        FrameDescriptor.write(
                frame,
                FrameDescriptor.ANSWER_MAGIC,
                (byte) 0x1d,
                0x8182,
                4,
                0x0203,
                0x8abcdef0,
                0x11223344,
                0x8877665544332211L);
        assertArrayEquals(bytes("811d0203 04008182 8abcdef0 11223344 88776655 44332211"), frame);
        assertEquals(FrameDescriptor.ANSWER_MAGIC, FrameDescriptor.magic(frame));
        assertEquals(0x1d, FrameDescriptor.opcode(frame));
        assertEquals(0x8182, FrameDescriptor.status(frame));
        assertEquals(4, FrameDescriptor.extrasLength(frame));
        assertEquals(0x0203, FrameDescriptor.keyLength(frame));
        assertEquals(0x8abcdef0L, FrameDescriptor.bodyLength(frame));
        assertEquals(0x11223344, FrameDescriptor.opaque(frame));
        assertEquals(0x8877665544332211L, FrameDescriptor.cas(frame));
    }

    @Test
    void shouldTellLengthsThatDoNotFitFromThoseThatDo() {
        byte[] frame = new byte[FrameDescriptor.LENGTH];
        for (int[] each : new int[][] {{4, 3, 7}, {0, 0, 0}, {255, 65535, 65790}, {8, 3, 11}}) {
            for (int body = each[2] - 2; body <= each[2] + 2; body++) {
                FrameDescriptor.write(frame, FrameDescriptor.REQUEST_MAGIC, (byte) 0, 0, each[0], each[1], body, 0, 0);
                boolean negative = body < 0; // then it is 2^32 less something
                assertEquals(negative || body >= each[2], FrameDescriptor.isValid(frame), Arrays.toString(each));
            }
        }
    }

    @Test
    void shouldTakeTheExamplesOfTheDescriptionApart() {
        BinaryRequest get = request("80000005 00000000 00000005 00000000 00000000 00000000 48656c6c6f");
        assertEquals(BinaryOperation.GET, get.operation());
        assertEquals("Hello", get.key().toString());
        assertFalse(get.isQuiet());

        BinaryRequest add = request(
                "80020005 08000000 00000012 00000000 00000000 00000000 deadbeef 00001c20 48656c6c6f 576f726c64");
        assertEquals(BinaryOperation.ADD, add.operation());
        assertEquals(0xdeadbeef, add.flags());
        assertEquals(7200, add.exptime());
        assertEquals(5, add.valueLength());

        BinaryRequest increment = request("80050007 14000000 0000001b 00000000 00000000 00000000 "
                + "00000000 00000001 00000000 00000000 00000e10 636f756e746572");
        assertEquals(BinaryOperation.INCREMENT, increment.operation());
        assertEquals(1, increment.delta());
        assertEquals(0, increment.initial());
        assertEquals(3600, increment.exptime());
        assertTrue(increment.creates());

        assertFalse(request("80160001 14000000 00000015 00000000 00000000 00000000 "
                        + "00000000 00000001 00000000 00000000 ffffffff 63")
                .creates());
        assertEquals(
                0x1c20,
                request("80080000 04000000 00000004 00000000 00000000 00000000 00001c20")
                        .exptime());
        assertEquals(
                0,
                request("80180000 00000000 00000000 00000000 00000000 00000000").exptime());
        assertEquals(
                2,
                request("801b0000 04000000 00000004 00000000 00000000 00000000 00000002")
                        .level());
    }

    @Test
    void shouldPutTheExamplesOfTheDescriptionTogether() {
        AnswerFrame frame = new AnswerFrame();
        BinaryRequest get = request("80000005 00000000 00000005 00000000 00000000 00000000 48656c6c6f");
        assertEquals(
                "81000000" + "04000000" + "00000009" + "00000000" + "0000000000000001" + "deadbeef",
                made(frame.item(get, false, 0xdeadbeef, 5, 1)));
        assertEquals(
                "81000000" + "00000001" + "00000009" + "00000000" + "0000000000000000" + "4e6f7420666f756e64",
                made(frame.refuse(get, Status.NOT_FOUND)));
        BinaryRequest getk = request("800c0005 00000000 00000005 01020304 00000000 00000000 48656c6c6f");
        assertEquals(
                "810c0005" + "04000000" + "0000000e" + "01020304" + "0000000000000001" + "deadbeef" + "48656c6c6f",
                made(frame.item(getk, true, 0xdeadbeef, 5, 1)));
        assertEquals(
                "810c0005" + "00000001" + "00000005" + "01020304" + "0000000000000000" + "48656c6c6f",
                made(frame.miss(getk)));
        assertEquals(
                "810c0000" + "00000000" + "00000008" + "01020304" + "0000000000000005" + "fffffffffffffffe",
                made(frame.number(getk, -2, 5)));
        assertEquals("810c0000" + "00000000" + "00000000" + "01020304" + "0000000000000005", made(frame.done(getk, 5)));
        assertEquals(
                "810c0003" + "00000000" + "00000007" + "01020304" + "0000000000000000",
                made(frame.statistic(getk, 3, 4)));
        assertEquals(
                "81000000" + "00000085" + "00000003" + "00000000" + "0000000000000000" + "6e6f21",
                HEX.formatHex(AnswerFrame.unasked(Status.BUSY, "no!")));
    }

    /** The words of each status fit into an answer. */
    @Test
    void shouldHaveRoomForEveryRefusal() {
        BinaryRequest request = request("800a0000 00000000 00000000 00000000 00000000 00000000");
        for (Status each : Status.values()) {
            AnswerFrame frame = new AnswerFrame().refuse(request, each);
            assertEquals(each.code(), FrameDescriptor.status(frame.bytes()));
            assertEquals(frame.length() - FrameDescriptor.LENGTH, FrameDescriptor.bodyLength(frame.bytes()));
        }
    }
}
