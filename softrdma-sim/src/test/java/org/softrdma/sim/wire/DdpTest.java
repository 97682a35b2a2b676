package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.memory.NativeMemory;

/** DDP and RDMAP headers against bytes written by hand from RFC 5040 and RFC 5041. */
class DdpTest {
    /** RFC 5041 section 4.2: Rsvd of the DDP control field; RFC 5040 section 4.1: Rsv of the RDMAP control field. */
    private static final int RESERVED = 0x3C30;

    /** RFC 5041 figure 3 and RFC 5040 appendix A.1: T and L, DDP version 1, RDMAP version 1, opcode 0. */
    private static final String WRITE = "0013 c140 11223344 8877665544332211";

    /** RFC 5044 figure 5, the octets 4 to 0x17: a SEND of 24 bytes on queue 0, MSN 1, message offset 0. */
    private static final String SEND = "002a 4143 00000000 00000000 00000001 00000000";

    /** RFC 5040 figures 6 and 12. */
    private static final String READ_REQUEST =
            "002e 4141 00000000 00000001 0a0b0c0d 00000000 a1a2a3a4 b1b2b3b4b5b6b7b8 80c2c3c4 d1d2d3d4 e1e2e3e4e5e6e7e8";

    @Test
    void shouldWriteAWriteAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Ddp.TAGGED_HEADER_LENGTH);
        Ddp.putTagged(memory.address(), RdmapOpcode.WRITE, true, 0x11223344, 0x8877_6655_4433_2211L, 5);
        assertEquals(WireMemory.plain(WRITE), memory.hex());
    }

    /** The four tagged control words. Those of READ responses are what a Linux siw (kernel 6.1) took. */
    @ParameterizedTest
    @CsvSource({"0, true, c140", "0, false, 8140", "2, true, c142", "2, false, 8142"})
    void shouldSetTheTaggedFlagAndLastInTaggedSegments(int opcode, boolean last, String control) {
        WireMemory memory = new WireMemory(Ddp.TAGGED_HEADER_LENGTH);
        Ddp.putTagged(memory.address(), opcode, last, -1, -1, 65_535 - 14);
        assertEquals("ffff" + control + "ffffffffffffffffffffffff", memory.hex());
    }

    @Test
    void shouldWriteASendAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Ddp.UNTAGGED_HEADER_LENGTH);
        Ddp.putUntagged(memory.address(), RdmapOpcode.SEND, true, Ddp.QUEUE_SEND, 1, 0, 24);
        assertEquals(WireMemory.plain(SEND), memory.hex());
    }

    @Test
    void shouldWriteAMiddleSegmentWithItsMessageOffsetAndASequenceNumberOf32Bits() {
        WireMemory memory = new WireMemory(Ddp.UNTAGGED_HEADER_LENGTH);
        Ddp.putUntagged(memory.address(), RdmapOpcode.SEND_SOLICITED, false, Ddp.QUEUE_SEND, -2, 0x8001_0203, 1);
        assertEquals(WireMemory.plain("0013 0145 00000000 00000000 fffffffe 80010203"), memory.hex());
    }

    /** Control 41 41 on queue 1 with 28 bytes is also what a Linux siw (kernel 6.1) sends. */
    @Test
    void shouldWriteAReadRequestAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Ddp.READ_REQUEST_END);
        Ddp.putReadRequest(
                memory.address(),
                0x0a0b0c0d,
                0xa1a2a3a4,
                0xb1b2_b3b4_b5b6_b7b8L,
                0x80c2c3c4,
                0xd1d2d3d4,
                0xe1e2_e3e4_e5e6_e7e8L);
        assertEquals(WireMemory.plain(READ_REQUEST), memory.hex());
    }

    @Test
    void shouldReadTheFieldsOfATaggedSegment() {
        WireMemory memory = WireMemory.of(WRITE);
        long fpdu = memory.address();
        assertEquals(19, Ddp.ulpduLength(fpdu));
        assertEquals(0xC140, Ddp.control(fpdu));
        assertEquals(0x11223344, NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET));
        assertEquals(0x8877_6655_4433_2211L, NativeMemory.getLong(fpdu + Ddp.TAGGED_OFFSET_OFFSET));
        assertEquals(memory.bytes().length, Ddp.TAGGED_HEADER_LENGTH);
    }

    @Test
    void shouldReadTheFieldsOfAnUntaggedSegment() {
        WireMemory memory = WireMemory.of("ffff 0146 01020304 05060708 090a0b0c 0d0e0f10");
        long fpdu = memory.address();
        assertEquals(65_535, Ddp.ulpduLength(fpdu), "a length is unsigned");
        assertEquals(0x0146, Ddp.control(fpdu));
        assertEquals(0x01020304, NativeMemory.getInt(fpdu + Ddp.STAG_OFFSET), "STag to invalidate");
        assertEquals(0x05060708, NativeMemory.getInt(fpdu + Ddp.QUEUE_NUMBER_OFFSET));
        assertEquals(0x090a0b0c, NativeMemory.getInt(fpdu + Ddp.MSN_OFFSET));
        assertEquals(0x0d0e0f10, NativeMemory.getInt(fpdu + Ddp.MESSAGE_OFFSET_OFFSET));
        assertEquals(memory.bytes().length, Ddp.UNTAGGED_HEADER_LENGTH);
    }

    @Test
    void shouldReadTheFieldsOfAReadRequest() {
        WireMemory memory = WireMemory.of(READ_REQUEST);
        long fpdu = memory.address();
        assertEquals(0xa1a2a3a4, NativeMemory.getInt(fpdu + Ddp.READ_SINK_STAG_OFFSET));
        assertEquals(0xb1b2_b3b4_b5b6_b7b8L, NativeMemory.getLong(fpdu + Ddp.READ_SINK_OFFSET_OFFSET));
        assertEquals(0x80c2c3c4, NativeMemory.getInt(fpdu + Ddp.READ_LENGTH_OFFSET));
        assertEquals(0xd1d2d3d4, NativeMemory.getInt(fpdu + Ddp.READ_SOURCE_STAG_OFFSET));
        assertEquals(0xe1e2_e3e4_e5e6_e7e8L, NativeMemory.getLong(fpdu + Ddp.READ_SOURCE_OFFSET_OFFSET));
        assertEquals(memory.bytes().length, Ddp.READ_REQUEST_END);
        assertEquals(28, Ddp.READ_REQUEST_LENGTH, "RFC 5040 figure 6: 224 bits");
    }

    @Test
    void shouldLookAtEveryControlBitThatIsNotReserved() {
        int[] fields = {Ddp.TAGGED, Ddp.LAST, Ddp.DDP_VERSION_MASK, Ddp.RDMAP_VERSION_MASK, Ddp.OPCODE_MASK};
        int all = 0;
        for (int field : fields) {
            assertEquals(0, all & field, "fields overlap");
            all |= field;
        }
        assertEquals(0xFFFF & ~RESERVED, all);
        assertEquals(1, Ddp.DDP_VERSION >>> Integer.numberOfTrailingZeros(Ddp.DDP_VERSION_MASK));
        assertEquals(1, Ddp.RDMAP_VERSION >>> Integer.numberOfTrailingZeros(Ddp.RDMAP_VERSION_MASK));
    }

    /** RFC 5040 figure 4, RFC 7306 figure 2. */
    @ParameterizedTest
    @CsvSource({
        "0, 4140",
        "1, 4141",
        "2, 4142",
        "3, 4143",
        "4, 4144",
        "5, 4145",
        "6, 4146",
        "7, 4147",
        "8, 4148",
        "9, 4149",
        "10, 414a",
        "11, 414b"
    })
    void shouldCarryEachOpcodeInTheLowestBits(int opcode, String control) {
        int[] opcodes = {
            RdmapOpcode.WRITE,
            RdmapOpcode.READ_REQUEST,
            RdmapOpcode.READ_RESPONSE,
            RdmapOpcode.SEND,
            RdmapOpcode.SEND_INVALIDATE,
            RdmapOpcode.SEND_SOLICITED,
            RdmapOpcode.SEND_SOLICITED_INVALIDATE,
            RdmapOpcode.TERMINATE,
            RdmapOpcode.IMMEDIATE,
            RdmapOpcode.IMMEDIATE_SOLICITED,
            RdmapOpcode.ATOMIC_REQUEST,
            RdmapOpcode.ATOMIC_RESPONSE
        };
        assertEquals(opcodes.length, RdmapOpcode.COUNT);
        assertEquals(opcode, opcodes[opcode], "in the order of the figure");
        WireMemory memory = new WireMemory(Ddp.UNTAGGED_HEADER_LENGTH);
        Ddp.putUntagged(memory.address(), opcodes[opcode], true, 0, 0, 0, 0);
        assertEquals(control, memory.hex().substring(4, 8));
        assertEquals(opcode, Ddp.control(memory.address()) & Ddp.OPCODE_MASK);
    }

    @Test
    void shouldKnowTheKindOfEachOpcode() {
        List<MessageKind> kinds =
                IntStream.range(0, RdmapOpcode.COUNT).mapToObj(MessageKind::of).toList();
        assertEquals(
                List.of(
                        MessageKind.WRITE,
                        MessageKind.READ_REQUEST,
                        MessageKind.READ_RESPONSE,
                        MessageKind.SEND,
                        MessageKind.SEND,
                        MessageKind.SEND,
                        MessageKind.SEND,
                        MessageKind.TERMINATE,
                        MessageKind.IMMEDIATE,
                        MessageKind.IMMEDIATE,
                        MessageKind.ATOMIC_REQUEST,
                        MessageKind.ATOMIC_RESPONSE),
                kinds);
    }

    /** RFC 5044 section 4.1 and figure 5: 2 + 42 + 0 + 4 bytes, and then by hand around it. */
    @ParameterizedTest
    @CsvSource({
        "42, 48, 4",
        "41, 48, 5",
        "40, 48, 6",
        "39, 48, 7",
        "38, 44, 4",
        "14, 20, 4",
        "18, 24, 4",
        "65535, 65544, 7"
    })
    void shouldPadTheFpduToAMultipleOfFour(int ulpdu, int fpdu, int trailer) {
        assertEquals(fpdu, Ddp.fpduLength(ulpdu));
        assertEquals(trailer, Ddp.trailerLength(ulpdu));
    }

    @Test
    void shouldPadEveryLengthByLessThanFour() {
        for (int ulpdu = 0; ulpdu <= Ddp.MAX_ULPDU; ulpdu++) {
            int fpdu = Ddp.fpduLength(ulpdu);
            assertEquals(0, fpdu % 4, "ULPDU of " + ulpdu);
            int pad = fpdu - 2 - ulpdu - 4;
            assertTrue(pad >= 0 && pad <= 3, "ULPDU of " + ulpdu + ": pad " + pad);
            assertEquals(pad + 4, Ddp.trailerLength(ulpdu));
        }
    }
}
