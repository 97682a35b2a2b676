package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Terminate messages against bytes written by hand from RFC 5040 section 4.8 (figures 7, 8, 10 and 16). */
class TerminateTest {
    private static final int NO_SEGMENT = 0;

    /** Behind the length: a Terminate, last, on queue 2 with MSN 1. */
    private static final String HEADER = "4147 00000000 00000002 00000001 00000000";

    private static final String WRITE = "0013 c140 11223344 8877665544332211";
    private static final String SEND = "002a 4143 00000000 00000000 00000001 00000000";
    private static final String READ_REQUEST = "002e 4141 00000000 00000001 0a0b0c0d 00000000";
    private static final String READ_BODY = "a1a2a3a4 b1b2b3b4b5b6b7b8 c1c2c3c4 d1d2d3d4 e1e2e3e4e5e6e7e8";
    private static final int READ_MSN = 0x0a0b0c0d;

    /** Shortest Terminate about an untagged segment: its control, the length, and 18 bytes of DDP header. */
    private static final int ULPDU_WITH_UNTAGGED_HEADER = 18 + 4 + 2 + 18;

    @Test
    void shouldSayOnlyWhyWhenThereIsNoSegment() {
        assertPut(TerminateCause.RDMAP_STREAM_CATASTROPHIC, "", "0016" + HEADER + "0207 0000");
    }

    /** Figure 10: a local catastrophic error and an error of MPA name no segment, even if there is one. */
    @ParameterizedTest
    @CsvSource({"LOCAL_CATASTROPHIC, 0000", "MPA_CRC, 2002", "MPA_INSUFFICIENT_IRD, 2006", "MPA_NO_MATCHING_RTR, 2007"})
    void shouldNotIncludeTheSegmentWhenTheErrorIsOfTheSideItself(TerminateCause cause, String code) {
        assertPut(cause, SEND, "0016" + HEADER + code + "0000");
    }

    /** M and D, the length, 112 bits of DDP header. */
    @Test
    void shouldIncludeTheHeaderOfATaggedSegment() {
        assertPut(TerminateCause.DDP_BOUNDS, WRITE, "0026" + HEADER + "1101 c000" + WRITE);
    }

    /** M and D, the length, 144 bits of DDP header. */
    @Test
    void shouldIncludeTheHeaderOfAnUntaggedSegment() {
        assertPut(TerminateCause.DDP_NO_BUFFER, SEND, "002a" + HEADER + "1202 c000" + SEND);
    }

    /** M, D and R: only a remote protection error repeats the READ request, its 224 bits too. */
    @ParameterizedTest
    @CsvSource({
        "RDMAP_INVALID_STAG, 0100",
        "RDMAP_BOUNDS, 0101",
        "RDMAP_ACCESS_RIGHTS, 0102",
        "RDMAP_STAG_NOT_ON_STREAM, 0103",
        "RDMAP_WRAP, 0104"
    })
    void shouldIncludeTheReadRequestWhenItsSourceMayNotBeRead(TerminateCause cause, String code) {
        assertPut(cause, READ_REQUEST + READ_BODY, "0046" + HEADER + code + "e000" + READ_REQUEST + READ_BODY);
        assertEquals(0x46, Terminate.MAX_ULPDU, "nothing is longer");
    }

    @ParameterizedTest
    @CsvSource({"DDP_MSN_RANGE, 1203", "DDP_NO_BUFFER, 1202", "RDMAP_OPCODE, 0206", "RDMAP_VERSION, 0205"})
    void shouldNotIncludeTheReadRequestWhenTheErrorIsAnother(TerminateCause cause, String code) {
        assertPut(cause, READ_REQUEST + READ_BODY, "002a" + HEADER + code + "c000" + READ_REQUEST);
    }

    /** A SEND with Invalidate fails with a protection error too, but has no RDMAP header. */
    @Test
    void shouldNotIncludeAReadRequestWhenTheSegmentIsNone() {
        String send = "002a 4144 11223344 00000000 00000007 00000000";
        assertPut(TerminateCause.RDMAP_CANNOT_INVALIDATE, send, "002a" + HEADER + "0109 c000" + send);
    }

    private static void assertPut(TerminateCause cause, String segment, String expected) {
        WireMemory terminate = new WireMemory(Terminate.MAX_FPDU);
        WireMemory bad = WireMemory.of(segment.isEmpty() ? "00" : segment);
        int ulpdu = Terminate.put(terminate.address(), cause, segment.isEmpty() ? NO_SEGMENT : bad.address());
        String plain = WireMemory.plain(expected);
        assertEquals(plain.length() / 2, Short.BYTES + ulpdu, "ULPDU length");
        assertEquals(plain + WireMemory.UNTOUCHED.repeat(Terminate.MAX_FPDU - plain.length() / 2), terminate.hex());
        assertEquals(cause.code(), Terminate.code(terminate.address()));
        assertTrue(Ddp.fpduLength(ulpdu) <= Terminate.MAX_FPDU);
    }

    @ParameterizedTest
    @EnumSource(TerminateCause.class)
    void shouldReadTheCauseWhateverTheHeaderBitsAre(TerminateCause cause) {
        String code = String.format("%04x", cause.code());
        for (String rest : new String[] {"0000", "c000", "e000", "ffff", "1fff"}) {
            WireMemory memory = WireMemory.of("0016" + HEADER + code + rest);
            assertEquals(cause.code(), Terminate.code(memory.address()));
            assertEquals(cause.text(), Terminate.describe(Terminate.code(memory.address())));
        }
    }

    @Test
    void shouldDescribeACodeWithoutNameByItsNumber() {
        assertEquals("layer/type/code 0xf0ff", Terminate.describe(0xF0FF));
    }

    @Test
    void shouldFindTheRequestThatATerminateIsAbout() {
        assertEquals(READ_MSN, requestMsn("0102 e000" + READ_REQUEST + READ_BODY));
        assertEquals(READ_MSN, requestMsn("0206 c000" + READ_REQUEST), "without the READ request itself");
        assertEquals(READ_MSN, requestMsn("0206 4000" + READ_REQUEST), "M says less than D");
        String other = "002e 414a 00000000 00000001 0a0b0c0d 00000000";
        assertEquals(READ_MSN, requestMsn("0102 c000" + other), "requests of every opcode are counted on queue 1");
    }

    @Test
    void shouldFindNoRequestWhenTheTerminateIsAboutSomethingElse() {
        assertEquals(0, requestMsn("1202 c000" + SEND));
        assertEquals(0, requestMsn("1101 c000" + WRITE + "00000000"));
        String onQueueThree = "002e 4141 00000000 00000003 0a0b0c0d 00000000";
        assertEquals(0, requestMsn("0102 c000" + onQueueThree), "a response");
        String taggedOne = "002e c141 00000000 00000001 0a0b0c0d 00000000";
        assertEquals(0, requestMsn("1101 c000" + taggedOne), "tagged: an opcode of 1 is no READ request");
    }

    @Test
    void shouldFindNoRequestWhenTheTerminateDoesNotCarryItsHeader() {
        assertEquals(0, requestMsn("0102 0000" + READ_REQUEST), "neither M nor D");
        assertEquals(0, requestMsn("0102 8000" + READ_REQUEST), "a length without a header");
        assertEquals(0, requestMsn("0102 0000"), "control only");
    }

    /** A peer's length is not to be believed: the header may be cut anywhere. */
    @Test
    void shouldFindNoRequestWhenTheHeaderIsCut() {
        WireMemory memory = WireMemory.of("002a" + HEADER + "0102 e000" + READ_REQUEST);
        for (int ulpdu = Terminate.MIN_ULPDU; ulpdu < ULPDU_WITH_UNTAGGED_HEADER; ulpdu++) {
            assertEquals(0, Terminate.requestMsn(memory.address(), ulpdu), "ULPDU of " + ulpdu);
        }
        assertEquals(READ_MSN, Terminate.requestMsn(memory.address(), ULPDU_WITH_UNTAGGED_HEADER));
    }

    private static int requestMsn(String body) {
        WireMemory memory = WireMemory.of("0000" + HEADER + body);
        return Terminate.requestMsn(memory.address(), memory.bytes().length - Short.BYTES);
    }
}
