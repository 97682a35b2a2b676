package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.NativeMemory;

/** The messages of RFC 7306 against bytes written by hand from its figures 4, 6 and 7 and appendix A. */
class Rfc7306Test {
    private static final String IMMEDIATE = "001a 4148 00000000 00000000 01020304 00000000 f1f2f3f4 00000000";
    private static final String IMMEDIATE_SOLICITED = "001a 4149 00000000 00000000 01020304 00000000 00000005 00000000";

    private static final String FETCH_ADD = "0046 414a 00000000 00000001 0a0b0c0d 00000000"
            + " 00000000 a1a2a3a4 d1d2d3d4 e1e2e3e4e5e6e7e8"
            + " 8182838485868788 0000000000000000 0000000000000000 ffffffffffffffff";

    private static final String COMPARE_SWAP = "0046 414a 00000000 00000001 0a0b0c0d 00000000"
            + " 00000002 a1a2a3a4 d1d2d3d4 e1e2e3e4e5e6e7e8"
            + " 9192939495969798 ffffffffffffffff 8182838485868788 ffffffffffffffff";

    /** 12 bytes as in figure 6 and appendix A.2, not the 32 of section 4. */
    private static final String RESPONSE = "001e 414b 00000000 00000003 0a0b0c0d 00000000 a1a2a3a4 8182838485868788";

    @Test
    void shouldWriteImmediateDataAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Rfc7306.IMMEDIATE_END);
        Rfc7306.putImmediate(memory.address(), false, 0x01020304, 0xf1f2f3f4);
        assertEquals(WireMemory.plain(IMMEDIATE), memory.hex());
        Rfc7306.putImmediate(memory.address(), true, 0x01020304, 5);
        assertEquals(WireMemory.plain(IMMEDIATE_SOLICITED), memory.hex());
    }

    @Test
    void shouldWriteAFetchAddAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Rfc7306.REQUEST_END);
        Rfc7306.putFetchAdd(
                memory.address(), 0x0a0b0c0d, 0xa1a2a3a4, 0xd1d2d3d4, 0xe1e2_e3e4_e5e6_e7e8L, 0x8182_8384_8586_8788L);
        assertEquals(WireMemory.plain(FETCH_ADD), memory.hex());
    }

    @Test
    void shouldWriteACompareSwapAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Rfc7306.REQUEST_END);
        Rfc7306.putCompareSwap(
                memory.address(),
                0x0a0b0c0d,
                0xa1a2a3a4,
                0xd1d2d3d4,
                0xe1e2_e3e4_e5e6_e7e8L,
                0x8182_8384_8586_8788L,
                0x9192_9394_9596_9798L);
        assertEquals(WireMemory.plain(COMPARE_SWAP), memory.hex());
    }

    @Test
    void shouldWriteAnAtomicResponseAsTheRfcDrawsIt() {
        WireMemory memory = new WireMemory(Rfc7306.RESPONSE_END);
        Rfc7306.putResponse(memory.address(), 0x0a0b0c0d, 0xa1a2a3a4, 0x8182_8384_8586_8788L);
        assertEquals(WireMemory.plain(RESPONSE), memory.hex());
    }

    @Test
    void shouldReadTheFieldsOfEachMessage() {
        WireMemory immediate = WireMemory.of(IMMEDIATE);
        assertEquals(0xf1f2f3f4, NativeMemory.getInt(immediate.address() + Rfc7306.IMMEDIATE_OFFSET));
        assertEquals(immediate.bytes().length, Rfc7306.IMMEDIATE_END);
        assertEquals(8, Rfc7306.IMMEDIATE_LENGTH, "RFC 7306 section 6.2");

        WireMemory request = WireMemory.of(COMPARE_SWAP);
        long fpdu = request.address();
        assertEquals(Rfc7306.COMPARE_SWAP, Rfc7306.operation(fpdu));
        assertEquals(0xa1a2a3a4, NativeMemory.getInt(fpdu + Rfc7306.IDENTIFIER_OFFSET));
        assertEquals(0xd1d2d3d4, NativeMemory.getInt(fpdu + Rfc7306.WORD_STAG_OFFSET));
        assertEquals(0xe1e2_e3e4_e5e6_e7e8L, NativeMemory.getLong(fpdu + Rfc7306.WORD_OFFSET_OFFSET));
        assertEquals(0x9192_9394_9596_9798L, NativeMemory.getLong(fpdu + Rfc7306.DATA_OFFSET));
        assertEquals(-1, NativeMemory.getLong(fpdu + Rfc7306.MASK_OFFSET));
        assertEquals(0x8182_8384_8586_8788L, NativeMemory.getLong(fpdu + Rfc7306.COMPARE_OFFSET));
        assertEquals(-1, NativeMemory.getLong(fpdu + Rfc7306.COMPARE_MASK_OFFSET));
        assertEquals(request.bytes().length, Rfc7306.REQUEST_END);
        assertEquals(52, Rfc7306.REQUEST_LENGTH, "RFC 7306 section 4");

        WireMemory response = WireMemory.of(RESPONSE);
        assertEquals(0xa1a2a3a4, NativeMemory.getInt(response.address() + Rfc7306.RESPONSE_IDENTIFIER_OFFSET));
        assertEquals(0x8182_8384_8586_8788L, NativeMemory.getLong(response.address() + Rfc7306.ORIGINAL_OFFSET));
        assertEquals(response.bytes().length, Rfc7306.RESPONSE_END);
        assertEquals(12, Rfc7306.RESPONSE_LENGTH, "RFC 7306 figure 6");
    }

    @Test
    void shouldIgnoreTheReservedBitsBesideTheOperation() {
        WireMemory memory = WireMemory.of(FETCH_ADD.replace("00000000 a1a2a3a4", "fffffff2 a1a2a3a4"));
        assertEquals(Rfc7306.COMPARE_SWAP, Rfc7306.operation(memory.address()));
    }
}
