package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;

/** MPA requests and replies against bytes written by hand from RFC 5044 section 7.1.1 and RFC 6581 sections 6 and 9. */
class MpaFrameTest {
    /** RFC 5044 section 7.1.1: the keys. */
    private static final String REQUEST_KEY = "4D504120 49442052 65712046 72616D65";

    private static final String REPLY_KEY = "4D504120 49442052 65702046 72616D65";

    private static final byte[] NONE = {};
    private static final byte[] DATA = {(byte) 0xDE, (byte) 0xAD, 0x42};

    static Stream<Arguments> frames() {
        return Stream.of(
                Arguments.of("revision 1, nothing set", request(0, 1).frame(), REQUEST_KEY + "00 01 0000"),
                Arguments.of("its reply", reply(0, 1).frame(), REPLY_KEY + "00 01 0000"),
                Arguments.of("M", request(Frames.MARKERS, 1).frame(), REQUEST_KEY + "80 01 0000"),
                Arguments.of("C", request(Frames.CRC, 1).frame(), REQUEST_KEY + "40 01 0000"),
                Arguments.of("R", reply(Frames.REJECTED, 1).frame(), REPLY_KEY + "20 01 0000"),
                Arguments.of("private data", request(0, 1).data(DATA).frame(), REQUEST_KEY + "00 01 0003 DEAD42"),
                Arguments.of("revision 2 without S", reply(0, 2).data(DATA).frame(), REPLY_KEY + "00 02 0003 DEAD42"),
                Arguments.of("S", request(Frames.ENHANCED, 2).frame(), REQUEST_KEY + "10 02 0004 0000 0000"),
                Arguments.of(
                        "every flag, and data behind the depths",
                        reply(0xF0, 2).depths(0x1234, 0x0ABC).data(DATA).frame(),
                        REPLY_KEY + "F0 02 0007 1234 0ABC DEAD42"),
                Arguments.of(
                        "depths of 14 ones",
                        request(Frames.ENHANCED, 2).depths(0x3FFF, 0x3FFF).frame(),
                        REQUEST_KEY + "10 02 0004 3FFF 3FFF"),
                Arguments.of(
                        "A",
                        request(Frames.ENHANCED, 2).depths(1, 2).ready(0).frame(),
                        REQUEST_KEY + "10 02 0004 8001 0002"),
                Arguments.of(
                        "A and B",
                        request(Frames.ENHANCED, 2)
                                .depths(1, 2)
                                .ready(MpaFrame.RTR_SEND)
                                .frame(),
                        REQUEST_KEY + "10 02 0004 C001 0002"),
                Arguments.of(
                        "A and C",
                        request(Frames.ENHANCED, 2)
                                .depths(1, 2)
                                .ready(MpaFrame.RTR_WRITE)
                                .frame(),
                        REQUEST_KEY + "10 02 0004 8001 8002"),
                Arguments.of(
                        "A and D",
                        request(Frames.ENHANCED, 2)
                                .depths(1, 2)
                                .ready(MpaFrame.RTR_READ)
                                .frame(),
                        REQUEST_KEY + "10 02 0004 8001 4002"),
                Arguments.of(
                        "everything at once",
                        reply(0xF0, 2)
                                .depths(0x3FFF, 0x3FFF)
                                .ready(MpaFrame.RTR_SEND | MpaFrame.RTR_WRITE | MpaFrame.RTR_READ)
                                .frame(),
                        REPLY_KEY + "F0 02 0004 FFFF FFFF"),
                Arguments.of(
                        "the request that a Linux siw (kernel 6.1) accepted",
                        request(Frames.ENHANCED, 2).depths(16, 16).frame(),
                        REQUEST_KEY + "10 02 0004 0010 0010"),
                Arguments.of(
                        "the reply of a Linux siw (kernel 6.1) to a peer that is ready by READ",
                        reply(Frames.ENHANCED, 2)
                                .depths(1, 1)
                                .ready(MpaFrame.RTR_READ)
                                .frame(),
                        REPLY_KEY + "10 02 0004 8001 4001"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("frames")
    void shouldEncodeAsTheRfcDrawsIt(String name, MpaFrame frame, String hex) {
        assertEquals(WireMemory.plain(hex), TestBytes.hex(frame.encode()), name);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("frames")
    void shouldDecodeWhatTheRfcDraws(String name, MpaFrame frame, String hex) throws Exception {
        assertEquals(fields(frame), fields(decode(hex, frame.request())), name);
    }

    @Test
    void shouldCarryAsMuchPrivateDataAsTheFieldHolds() throws Exception {
        byte[] unenhanced = TestBytes.pattern(1, 512);
        String plain = REPLY_KEY + "00 01 0200" + TestBytes.hex(unenhanced);
        assertEquals(
                WireMemory.plain(plain),
                TestBytes.hex(reply(0, 1).data(unenhanced).frame().encode()));
        assertArrayEquals(unenhanced, decode(plain, false).privateData());

        byte[] enhanced = TestBytes.pattern(2, MpaFrame.MAX_PRIVATE_DATA);
        String withDepths = REPLY_KEY + "10 02 0200 0001 0002" + TestBytes.hex(enhanced);
        MpaFrame frame = reply(Frames.ENHANCED, 2).depths(1, 2).data(enhanced).frame();
        assertEquals(WireMemory.plain(withDepths), TestBytes.hex(frame.encode()));
        assertArrayEquals(enhanced, decode(withDepths, false).privateData());
        assertEquals(MpaFrame.MAX_LENGTH, frame.encode().length);
    }

    /** RFC 5044 section 7.1.1, Res: not checked on reception. A Linux siw copies them from the request into its reply. */
    @ParameterizedTest
    @CsvSource({"01, 00", "0f, 00", "4f, 40"})
    void shouldIgnoreReservedBits(String flags, String meaning) throws Exception {
        assertEquals(
                fields(decode(REQUEST_KEY + meaning + "01 0000", true)),
                fields(decode(REQUEST_KEY + flags + "01 0000", true)));
        assertEquals(
                fields(decode(REPLY_KEY + "10 02 0004 8001 4001", false)),
                fields(decode(REPLY_KEY + "1f 02 0004 8001 4001", false)));
    }

    /** RFC 5044 knows no S: it is one of the reserved bits there. */
    @Test
    void shouldTakeEverythingForPrivateDataWhenSIsSetInRevision1() throws Exception {
        MpaFrame frame = decode(REQUEST_KEY + "10 01 0004 8001 4001", true);
        assertEquals(
                fields(request(0, 1).data(Frames.bytes("80014001")).frame()),
                fields(frame),
                "an unenhanced frame with four bytes");
    }

    /** RFC 6581 section 9.2: B, C and D must be ignored if A is 0. */
    @Test
    void shouldIgnoreReadyToReceiveBitsWhenThePeerIsAClient() throws Exception {
        assertEquals(
                fields(request(Frames.ENHANCED, 2).depths(5, 6).frame()),
                fields(decode(REQUEST_KEY + "10 02 0004 4005 C006", true)));
    }

    @ParameterizedTest
    @CsvSource({"00, 0", "03, 3", "ff, 255"})
    void shouldRefuseAnotherRevision(String revision, int number) {
        assertMalformed("MPA revision " + number + ": expected 1 or 2", REQUEST_KEY + "00" + revision + "0000", true);
        assertMalformed("MPA revision " + number + ": expected 1 or 2", REPLY_KEY + "10" + revision + "0000", false);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldRefuseAnEnhancedFrameWithoutRoomForTheDepths(int length) {
        assertMalformed(
                "enhanced frame with " + length + " bytes of private data: expected at least 4 for IRD and ORD",
                REQUEST_KEY + "10 02 000" + length + "00".repeat(length),
                true);
    }

    @ParameterizedTest
    @CsvSource({"0201, 513", "0400, 1024", "7fff, 32767", "8000, 32768", "ffff, 65535"})
    void shouldRefuseMorePrivateDataThanTheFieldHolds(String length, int number) {
        assertMalformed(
                "private data length " + number + ": at most 512 (RFC 5044 section 7.1.1)",
                REQUEST_KEY + "00 01" + length,
                true);
    }

    /** The header first, then what its length field says; never more, for the first FPDU may follow at once. */
    @Test
    void shouldAskForNotAByteMoreThanTheFrameHas() throws Exception {
        byte[] frame = Frames.bytes(REQUEST_KEY + "10 02 0007 0001 0002 DEAD42" + "FFFF");
        for (int available = 0; available < MpaFrame.HEADER_LENGTH; available++) {
            assertEquals(MpaFrame.HEADER_LENGTH, MpaFrame.frameLength(frame, available, true), available + " bytes");
        }
        for (int available = MpaFrame.HEADER_LENGTH; available <= frame.length; available++) {
            assertEquals(27, MpaFrame.frameLength(frame, available, true), available + " bytes");
        }
        assertEquals(532, MpaFrame.frameLength(Frames.bytes(REPLY_KEY + "00 01 0200"), 20, false));
    }

    @Test
    void shouldRefuseAWrongKeyAtItsFirstWrongByte() throws Exception {
        byte[] key = Frames.bytes(REQUEST_KEY);
        for (int wrong = 0; wrong < key.length; wrong++) {
            byte[] bytes = key.clone();
            bytes[wrong] ^= 1;
            assertEquals(MpaFrame.HEADER_LENGTH, MpaFrame.frameLength(bytes, wrong, true), "right so far");
            int available = wrong + 1;
            assertThrows(
                    MalformedFrameException.class,
                    () -> MpaFrame.frameLength(bytes, available, true),
                    () -> "byte " + (available - 1));
        }
    }

    /** The two keys differ in their eleventh byte. */
    @Test
    void shouldRefuseAReplyForARequestAndARequestForAReply() {
        assertRefusedKey(
                Frames.bytes(REPLY_KEY),
                true,
                "expected \"MPA ID Req Frame\", but the peer sent \"MPA ID Rep Frame\"; it does not speak iWARP");
        assertRefusedKey(
                Frames.bytes(REQUEST_KEY),
                false,
                "expected \"MPA ID Rep Frame\", but the peer sent \"MPA ID Req Frame\"; it does not speak iWARP");
    }

    /** The message goes to a log: what a peer sends must not break its lines. */
    @Test
    void shouldShowWhatThePeerSentInPrintableCharacters() {
        assertRefusedKey(
                "GET /\r\n\u00e9\u007f".getBytes(StandardCharsets.ISO_8859_1),
                true,
                "expected \"MPA ID Req Frame\", but the peer sent \"GET /\\x0d\\x0a\\xe9\\x7f\"; it does not speak iWARP");
    }

    private static void assertRefusedKey(byte[] bytes, boolean request, String message) {
        MalformedFrameException refused =
                assertThrows(MalformedFrameException.class, () -> MpaFrame.frameLength(bytes, bytes.length, request));
        assertEquals(message, refused.getMessage());
    }

    @Test
    void shouldNotShareItsPrivateData() {
        byte[] data = DATA.clone();
        MpaFrame frame = request(0, 1).data(data).frame();
        data[0] = 0;
        frame.privateData()[1] = 0;
        assertArrayEquals(DATA, frame.privateData());
    }

    private static void assertMalformed(String message, String hex, boolean request) {
        MalformedFrameException refused =
                assertThrows(MalformedFrameException.class, () -> decode(hex, request), message);
        assertEquals(message, refused.getMessage());
    }

    /** As a receiver does it: asks for the length, then decodes; the array is longer than the frame. */
    private static MpaFrame decode(String hex, boolean request) throws MalformedFrameException {
        byte[] frame = Frames.bytes(hex);
        assertEquals(frame.length, MpaFrame.frameLength(frame, frame.length, request));
        return MpaFrame.decode(TestBytes.concat(frame, TestBytes.pattern(3, 8)), frame.length, request);
    }

    private static List<Object> fields(MpaFrame frame) {
        return List.of(
                frame.request() ? "request" : "reply",
                "M=" + frame.markers(),
                "C=" + frame.crc(),
                "R=" + frame.rejected(),
                "S=" + frame.enhanced(),
                "revision=" + frame.revision(),
                "A=" + frame.peerToPeer(),
                "rtr=" + frame.rtr(),
                "ird=" + frame.ird(),
                "ord=" + frame.ord(),
                TestBytes.hex(frame.privateData()));
    }

    private static Fields request(int flags, int revision) {
        return new Fields(true, flags, revision);
    }

    private static Fields reply(int flags, int revision) {
        return new Fields(false, flags, revision);
    }

    /** A frame in the making, client-server and empty unless told otherwise. */
    private static final class Fields {
        private final boolean request;
        private final int flags;
        private final int revision;
        private boolean peerToPeer;
        private int rtr;
        private int ird;
        private int ord;
        private byte[] data = NONE;

        Fields(boolean request, int flags, int revision) {
            this.request = request;
            this.flags = flags;
            this.revision = revision;
        }

        Fields depths(int newIrd, int newOrd) {
            ird = newIrd;
            ord = newOrd;
            return this;
        }

        Fields ready(int newRtr) {
            peerToPeer = true;
            rtr = newRtr;
            return this;
        }

        Fields data(byte[] newData) {
            data = newData;
            return this;
        }

        MpaFrame frame() {
            return new MpaFrame(
                    request,
                    (flags & Frames.MARKERS) != 0,
                    (flags & Frames.CRC) != 0,
                    (flags & Frames.REJECTED) != 0,
                    (flags & Frames.ENHANCED) != 0,
                    revision,
                    peerToPeer,
                    rtr,
                    ird,
                    ord,
                    data);
        }
    }
}
