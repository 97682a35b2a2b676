package org.softrdma.sim.connection;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.sim.wire.TerminateCause;

/** The rules of the handshake for both sides, frame by frame (RFC 5044 section 7.1, RFC 6581 section 9). */
class MpaNegotiationTest {
    private static final byte[] DATA = {1, 2, 3};
    private static final boolean CRC = true;
    private static final int P2P = Frames.PEER_TO_PEER;
    /** What this side accepts and wants in flight where a test does not say. */
    private static final int IRD = 4;

    private static final int ORD = 6;

    private static IwarpSettings settings(boolean crc, int revision) {
        return new IwarpSettings(IwarpSettings.LARGEST_PAYLOAD, 4096, 262_144, true, crc, revision, 0);
    }

    private static MpaFrame decode(String key, int flags, int revision, byte[] data) throws Exception {
        byte[] frame = Frames.mpa(key, flags, revision, data);
        return MpaFrame.decode(frame, frame.length, key.equals(Frames.REQUEST_KEY));
    }

    /** A peer's request of revision 2. */
    private static MpaFrame request(int control, int ird, int ord) throws Exception {
        return decode(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(control, ird, ord, DATA));
    }

    /** A peer's request of revision 1. */
    private static MpaFrame plainRequest(int flags) throws Exception {
        return decode(Frames.REQUEST_KEY, flags, 1, DATA);
    }

    /** A peer's reply of revision 2. */
    private static MpaFrame reply(int flags, int control, int ird, int ord) throws Exception {
        return decode(Frames.REPLY_KEY, Frames.ENHANCED | flags, 2, Frames.depths(control, ird, ord, DATA));
    }

    // ---- the initiator's request

    @Test
    void shouldOfferPeerToPeerByWriteWhenTheRevisionIs2() {
        MpaFrame offer = MpaNegotiation.request(settings(!CRC, 2), 5, 9, DATA);
        assertEncodes(
                Frames.mpa(
                        Frames.REQUEST_KEY,
                        Frames.ENHANCED,
                        2,
                        Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 5, 9, DATA)),
                offer);
    }

    @Test
    void shouldOfferNothingWhenTheRevisionIs1() {
        assertEncodes(
                Frames.mpa(Frames.REQUEST_KEY, 0, 1, DATA), MpaNegotiation.request(settings(!CRC, 1), 5, 9, DATA));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldAskForCrcWhenTheDeviceDoes(int revision) {
        assertTrue(MpaNegotiation.request(settings(CRC, revision), 1, 1, DATA).crc());
        assertFalse(MpaNegotiation.request(settings(CRC, revision), 1, 1, DATA).markers());
    }

    private static void assertEncodes(byte[] expected, MpaFrame frame) {
        assertEquals(TestBytes.hex(expected), TestBytes.hex(frame.encode()));
    }

    // ---- the initiator's judgement of the reply

    private static MpaNegotiation.Outcome judge(MpaFrame reply) {
        MpaFrame offer = MpaNegotiation.request(settings(!CRC, reply.enhanced() ? 2 : 1), IRD, ORD, DATA);
        return MpaNegotiation.judge(offer, reply, IRD, ORD);
    }

    private static NegotiatedStream agreed(MpaNegotiation.Outcome outcome) {
        return assertInstanceOf(MpaNegotiation.Outcome.Agreed.class, outcome).stream();
    }

    private static void assertRefused(TerminateCause cause, String reason, MpaNegotiation.Outcome outcome) {
        assertEquals(new MpaNegotiation.Outcome.Refused(cause, reason), outcome);
    }

    /** Our ORD is at most the responder's IRD; our IRD stays, and must do for the responder's ORD. */
    @ParameterizedTest
    @CsvSource({
        "4, 4, 4", // as offered
        "6, 0, 6", // enough for all
        "7, 0, 6", // more than wanted
        "1, 4, 1",
        "0, 0, 0",
        "16383, 0, 6", // all ones, not negotiated: ours stays
        "2, 16383, 2", // not negotiated: the application sees to it
    })
    void shouldReadNoMoreThanTheResponderTakes(int peerIrd, int peerOrd, int ord) throws Exception {
        NegotiatedStream stream = agreed(judge(reply(0, P2P | Frames.RTR_WRITE, peerIrd, peerOrd)));
        assertEquals(new NegotiatedStream(false, 2, true, ord, IRD), stream);
    }

    @ParameterizedTest
    @ValueSource(ints = {IRD + 1, 0x3FFE})
    void shouldRefuseAResponderThatWantsMoreReadsThanThisSideTakes(int peerOrd) throws Exception {
        assertRefused(
                TerminateCause.MPA_INSUFFICIENT_IRD,
                "the peer wants " + peerOrd + " READs in flight, but inboundReads=4",
                judge(reply(0, P2P | Frames.RTR_WRITE, 9, peerOrd)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Frames.RTR_SEND, Frames.RTR_READ, Frames.RTR_SEND | Frames.RTR_READ})
    void shouldRefuseAResponderThatIsNotReadyByWrite(int control) throws Exception {
        assertRefused(
                TerminateCause.MPA_NO_MATCHING_RTR,
                "the peer does not accept a zero-length WRITE as ready-to-receive (RFC 6581 section 9.2)",
                judge(reply(0, P2P | control, 1, 1)));
    }

    @Test
    void shouldTakeAResponderThatIsReadyByWriteAmongOthers() throws Exception {
        int all = Frames.RTR_SEND | Frames.RTR_WRITE | Frames.RTR_READ;
        assertTrue(agreed(judge(reply(0, P2P | all, 1, 1))).peerToPeer());
    }

    /** A responder may not know peer-to-peer: then this side speaks first, as it does anyway. */
    @Test
    void shouldTakeAClientServerReply() throws Exception {
        assertEquals(new NegotiatedStream(false, 2, false, 1, IRD), agreed(judge(reply(0, 0, 1, 1))));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Frames.MARKERS})
    void shouldHandOnTheReasonWhenThePeerRejects(int flags) throws Exception {
        MpaNegotiation.Outcome outcome = judge(reply(Frames.REJECTED | flags, P2P, 0, IRD + 1));
        assertArrayEquals(
                DATA,
                assertInstanceOf(MpaNegotiation.Outcome.Rejected.class, outcome).privateData(),
                "whatever else the reply says");
    }

    @Test
    void shouldRefuseAResponderThatRequiresMarkers() throws Exception {
        assertRefused(
                TerminateCause.MPA_LOCAL_CATASTROPHIC,
                "the peer requires MPA markers (RFC 5044 section 4.3), which this RNIC does not support",
                judge(reply(Frames.MARKERS, P2P | Frames.RTR_WRITE, 1, 1)));
    }

    /** RFC 6581 section 10: both frames are enhanced or neither is. The message says what to try. */
    @Test
    void shouldRefuseAReplyOfTheOtherForm() throws Exception {
        MpaFrame plain = decode(Frames.REPLY_KEY, 0, 2, DATA);
        MpaFrame enhancedOffer = MpaNegotiation.request(settings(!CRC, 2), IRD, ORD, DATA);
        assertRefused(
                TerminateCause.MPA_LOCAL_CATASTROPHIC,
                "the peer answered an enhanced request with an unenhanced reply; try the device option mpa-revision=1",
                MpaNegotiation.judge(enhancedOffer, plain, IRD, ORD));
        MpaFrame plainOffer = MpaNegotiation.request(settings(!CRC, 1), IRD, ORD, DATA);
        assertRefused(
                TerminateCause.MPA_LOCAL_CATASTROPHIC,
                "the peer answered an unenhanced request with an enhanced reply; try the device option mpa-revision=2",
                MpaNegotiation.judge(plainOffer, reply(0, 0, 1, 1), IRD, ORD));
    }

    /** Revision 1 negotiates no depths: each side keeps to its own. */
    @Test
    void shouldKeepItsOwnDepthsWhenTheRevisionIs1() throws Exception {
        assertEquals(
                new NegotiatedStream(false, 1, false, ORD, IRD), agreed(judge(decode(Frames.REPLY_KEY, 0, 1, DATA))));
    }

    /** RFC 5044 section 7.1.1, C: both use it if either asks. */
    @ParameterizedTest
    @CsvSource({
        "1, false, false",
        "1, false, true",
        "1, true, false",
        "1, true, true",
        "2, false, false",
        "2, false, true",
        "2, true, false",
        "2, true, true"
    })
    void shouldUseCrcWhenEitherSideAsksForIt(int revision, boolean here, boolean there) throws Exception {
        int flags = (there ? Frames.CRC : 0) | (revision == 2 ? Frames.ENHANCED : 0);
        byte[] data = revision == 2 ? Frames.depths(0, 1, 1) : DATA;

        MpaFrame offer = MpaNegotiation.request(settings(here, revision), IRD, ORD, DATA);
        MpaFrame reply = decode(Frames.REPLY_KEY, flags, revision, data);
        assertEquals(
                here || there,
                agreed(MpaNegotiation.judge(offer, reply, IRD, ORD)).crc(),
                "initiator");

        MpaFrame request = decode(Frames.REQUEST_KEY, flags, revision, data);
        NegotiatedStream stream = MpaNegotiation.accept(settings(here, 2), request, IRD, ORD);
        assertEquals(here || there, stream.crc(), "responder");
        assertEquals(
                here || there,
                MpaNegotiation.reply(settings(here, 2), request, stream, DATA).crc(),
                "its reply");
    }

    // ---- the responder

    /** Accepts with these depths and says what is agreed on and what is replied: {@code ord ird: reply ird ord}. */
    private static String accepted(MpaFrame request, int localIrd, int localOrd) {
        NegotiatedStream stream = MpaNegotiation.accept(settings(!CRC, 2), request, localIrd, localOrd);
        MpaFrame reply = MpaNegotiation.reply(settings(!CRC, 2), request, stream, DATA);
        assertEquals(request.revision(), stream.revision());
        assertEquals(request.revision(), reply.revision());
        assertEquals(request.enhanced(), reply.enhanced(), "RFC 6581 section 10");
        assertEquals(request.peerToPeer(), stream.peerToPeer(), "RFC 6581 section 9.2: the initiator chooses");
        assertEquals(request.peerToPeer(), reply.peerToPeer());
        assertFalse(reply.request() || reply.rejected() || reply.markers());
        assertArrayEquals(DATA, reply.privateData());
        return "ord " + stream.ord() + " ird " + stream.ird() + ", says ird " + reply.ird() + " ord " + reply.ord();
    }

    /** Our ORD is at most the initiator's IRD; our IRD is what the application gave. */
    @ParameterizedTest
    @CsvSource({
        "4, 4, ord 4 ird 4, says ird 4 ord 4",
        "9, 9, ord 6 ird 4, says ird 4 ord 6",
        "1, 0, ord 1 ird 4, says ird 4 ord 1",
        "0, 0, ord 0 ird 4, says ird 4 ord 0",
        "16382, 16382, ord 6 ird 4, says ird 4 ord 6",
        // Not negotiated: what is local stays, and the reply says the same.
        "16383, 2, ord 6 ird 4, says ird 4 ord 16383",
        "2, 16383, ord 2 ird 4, says ird 16383 ord 2",
        "16383, 16383, ord 6 ird 4, says ird 16383 ord 16383",
    })
    void shouldReadNoMoreThanTheInitiatorTakes(int peerIrd, int peerOrd, String agreed, String said) throws Exception {
        assertEquals(agreed + ", " + said, accepted(request(0, peerIrd, peerOrd), IRD, ORD));
        assertEquals(agreed + ", " + said, accepted(request(P2P | Frames.RTR_WRITE, peerIrd, peerOrd), IRD, ORD));
    }

    @Test
    void shouldKeepItsOwnDepthsAndSayNoneWhenTheRequestHasNone() throws Exception {
        assertEquals("ord 6 ird 4, says ird 0 ord 0", accepted(plainRequest(0), IRD, ORD));
        MpaFrame revision2 = decode(Frames.REQUEST_KEY, 0, 2, DATA);
        assertEquals("ord 6 ird 4, says ird 0 ord 0", accepted(revision2, IRD, ORD));
    }

    /**
     * Of what the initiator offers (first column), those taken: WRITE, and READ if there is room for one. Nothing in common: all
     * that is taken, from which the initiator sees why it has to give up.
     */
    @ParameterizedTest
    @CsvSource({
        "W, 4, W",
        "R, 4, R",
        "WR, 4, WR",
        "SWR, 4, WR",
        "SW, 4, W",
        "SR, 4, R",
        "S, 4, WR",
        "-, 4, WR",
        "W, 0, W",
        "WR, 0, W",
        "SWR, 0, W",
        "S, 0, W",
    })
    void shouldTakeTheReadyToReceiveMessagesThatBothHave(String offered, int localIrd, String taken) throws Exception {
        MpaFrame request = request(P2P | control(offered), 1, 1);
        NegotiatedStream stream = MpaNegotiation.accept(settings(!CRC, 2), request, localIrd, ORD);
        assertEquals(localIrd, stream.ird());
        MpaFrame reply = MpaNegotiation.reply(settings(!CRC, 2), request, stream, DATA);
        assertEncodes(
                Frames.mpa(
                        Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(P2P | control(taken), localIrd, 1, DATA)),
                reply);
    }

    private static int control(String letters) {
        return (letters.contains("S") ? Frames.RTR_SEND : 0)
                | (letters.contains("W") ? Frames.RTR_WRITE : 0)
                | (letters.contains("R") ? Frames.RTR_READ : 0);
    }

    /** RFC 6581 section 9.1: the responder may raise its IRD to 1 if nothing but a READ can start the connection. */
    @ParameterizedTest
    @ValueSource(strings = {"R", "SR"})
    void shouldMakeRoomForOneReadWhenNothingElseCanStartTheConnection(String offered) throws Exception {
        MpaFrame request = request(P2P | control(offered), 1, 0);
        NegotiatedStream stream = MpaNegotiation.accept(settings(!CRC, 2), request, 0, ORD);
        assertEquals(1, stream.ird());
        assertEncodes(
                Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(P2P | Frames.RTR_READ, 1, 1, DATA)),
                MpaNegotiation.reply(settings(!CRC, 2), request, stream, DATA));
    }

    /** RFC 6581 section 9.2: B, C and D are 0 if A is. */
    @Test
    void shouldNameNoReadyToReceiveMessageToAClient() throws Exception {
        MpaFrame request = request(Frames.RTR_SEND | Frames.RTR_WRITE | Frames.RTR_READ, 1, 1);
        NegotiatedStream stream = MpaNegotiation.accept(settings(!CRC, 2), request, IRD, ORD);
        assertEncodes(
                Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, IRD, 1, DATA)),
                MpaNegotiation.reply(settings(!CRC, 2), request, stream, DATA));
    }

    @Test
    void shouldRejectInTheFormOfTheRequest() throws Exception {
        assertEncodes(
                Frames.mpa(Frames.REPLY_KEY, Frames.REJECTED, 1, DATA), MpaNegotiation.reject(plainRequest(0), DATA));
        assertEncodes(
                Frames.mpa(Frames.REPLY_KEY, Frames.REJECTED | Frames.CRC, 1, DATA),
                MpaNegotiation.reject(plainRequest(Frames.CRC | Frames.MARKERS), DATA));
        assertEncodes(
                Frames.mpa(Frames.REPLY_KEY, Frames.REJECTED | Frames.ENHANCED, 2, Frames.depths(0, 0, 0, DATA)),
                MpaNegotiation.reject(request(0, 3, 3), DATA));
        assertEncodes(
                Frames.mpa(
                        Frames.REPLY_KEY,
                        Frames.REJECTED | Frames.ENHANCED,
                        2,
                        Frames.depths(P2P | Frames.RTR_WRITE | Frames.RTR_READ, 0, 0, DATA)),
                MpaNegotiation.reject(request(P2P | Frames.RTR_SEND, 3, 3), DATA));
    }

    // ---- both together

    /** What two devices agree on, whatever they want: each reads no more than the other takes. */
    @Test
    void shouldAgreeOnDepthsThatFitEachOther() throws Exception {
        int[] depths = {0, 1, 2, 16, 0x3FFE};
        for (int initiatorIrd : depths) {
            for (int initiatorOrd : depths) {
                for (int responderIrd : depths) {
                    for (int responderOrd : depths) {
                        assertFit(initiatorIrd, initiatorOrd, responderIrd, responderOrd);
                    }
                }
            }
        }
    }

    private static void assertFit(int initiatorIrd, int initiatorOrd, int responderIrd, int responderOrd)
            throws Exception {
        IwarpSettings settings = settings(!CRC, 2);
        byte[] offered = MpaNegotiation.request(settings, initiatorIrd, initiatorOrd, DATA)
                .encode();
        MpaFrame request = MpaFrame.decode(offered, offered.length, true);
        NegotiatedStream responder = MpaNegotiation.accept(settings, request, responderIrd, responderOrd);
        byte[] replied =
                MpaNegotiation.reply(settings, request, responder, DATA).encode();
        NegotiatedStream initiator = agreed(MpaNegotiation.judge(
                request, MpaFrame.decode(replied, replied.length, false), initiatorIrd, initiatorOrd));
        String what = initiator + " and " + responder;
        assertEquals(Math.min(initiatorOrd, responder.ird()), initiator.ord(), what);
        assertEquals(Math.min(responderOrd, initiator.ird()), responder.ord(), what);
        assertTrue(initiator.peerToPeer() && responder.peerToPeer(), what);
    }
}
