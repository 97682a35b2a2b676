package org.softrdma.sim.connection;

import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.sim.wire.TerminateCause;

/** The rules of the handshake as pure functions (RFC 5044 section 7.1, RFC 6581 section 9). */
final class MpaNegotiation {
    /** Why a peer that sets M is refused, as a predicate. */
    static final String MARKERS = "requires MPA markers (RFC 5044 section 4.3), which this RNIC does not support";

    private MpaNegotiation() {}

    /** The outcome of the initiator's offer. */
    sealed interface Outcome {
        /** The stream is established. */
        record Agreed(NegotiatedStream stream) implements Outcome {}

        /** The peer rejected the connection. */
        @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
        record Rejected(byte[] privateData) implements Outcome {}

        /** The reply cannot be accepted: a Terminate tells the peer why. */
        record Refused(TerminateCause cause, String reason) implements Outcome {}
    }

    /** The initiator's request. Revision 2 offers peer-to-peer with a zero-length WRITE. */
    static MpaFrame request(IwarpSettings settings, int ird, int ord, byte[] privateData) {
        boolean enhanced = settings.mpaRevision() == 2;
        return new MpaFrame(
                true,
                false,
                settings.crc(),
                false,
                enhanced,
                settings.mpaRevision(),
                enhanced,
                enhanced ? MpaFrame.RTR_WRITE : 0,
                enhanced ? ird : 0,
                enhanced ? ord : 0,
                privateData);
    }

    /**
     * Judges the reply to a request.
     *
     * @param request what was offered
     * @param reply what came
     * @param localIrd READs that this side accepts in flight
     * @param localOrd READs that it wants in flight
     */
    static Outcome judge(MpaFrame request, MpaFrame reply, int localIrd, int localOrd) {
        if (reply.rejected()) {
            return new Outcome.Rejected(reply.privateData());
        }
        if (reply.markers()) {
            return new Outcome.Refused(TerminateCause.MPA_LOCAL_CATASTROPHIC, "the peer " + MARKERS);
        }
        if (reply.enhanced() != request.enhanced()) {
            return new Outcome.Refused(
                    TerminateCause.MPA_LOCAL_CATASTROPHIC,
                    "the peer answered an " + (request.enhanced() ? "enhanced" : "unenhanced") + " request with an "
                            + (reply.enhanced() ? "enhanced" : "unenhanced")
                            + " reply; try the device option mpa-revision=" + (request.enhanced() ? 1 : 2));
        }
        boolean crc = request.crc() || reply.crc();
        if (!reply.enhanced()) {
            return new Outcome.Agreed(new NegotiatedStream(crc, reply.revision(), false, localOrd, localIrd));
        }
        if (reply.peerToPeer() && (reply.rtr() & MpaFrame.RTR_WRITE) == 0) {
            return new Outcome.Refused(
                    TerminateCause.MPA_NO_MATCHING_RTR,
                    "the peer does not accept a zero-length WRITE as ready-to-receive (RFC 6581 section 9.2)");
        }
        if (reply.ord() != MpaFrame.DEPTH_MASK && reply.ord() > localIrd) {
            return new Outcome.Refused(
                    TerminateCause.MPA_INSUFFICIENT_IRD,
                    "the peer wants " + reply.ord() + " READs in flight, but inboundReads=" + localIrd);
        }
        int ord = reply.ird() == MpaFrame.DEPTH_MASK ? localOrd : Math.min(localOrd, reply.ird());
        return new Outcome.Agreed(new NegotiatedStream(crc, reply.revision(), reply.peerToPeer(), ord, localIrd));
    }

    /** What the responder agrees to. */
    static NegotiatedStream accept(IwarpSettings settings, MpaFrame request, int localIrd, int localOrd) {
        boolean crc = settings.crc() || request.crc();
        if (!request.enhanced()) {
            return new NegotiatedStream(crc, request.revision(), false, localOrd, localIrd);
        }
        int ord = request.ird() == MpaFrame.DEPTH_MASK ? localOrd : Math.min(localOrd, request.ird());
        // RFC 6581 section 9.1: a peer that can signal ready by a READ, but not by a WRITE, needs room for one. A SEND
        // does not help: this side does not accept it as ready-to-receive.
        int common = request.rtr() & (MpaFrame.RTR_WRITE | MpaFrame.RTR_READ);
        boolean readOnly = request.peerToPeer() && common == MpaFrame.RTR_READ;
        int ird = readOnly ? Math.max(1, localIrd) : localIrd;
        return new NegotiatedStream(crc, request.revision(), request.peerToPeer(), ord, ird);
    }

    /** The responder's reply. */
    static MpaFrame reply(IwarpSettings settings, MpaFrame request, NegotiatedStream stream, byte[] privateData) {
        int supported = MpaFrame.RTR_WRITE | (stream.ird() > 0 ? MpaFrame.RTR_READ : 0);
        int rtr = (request.rtr() & supported) == 0 ? supported : request.rtr() & supported;
        boolean enhanced = request.enhanced();
        return new MpaFrame(
                false,
                false,
                settings.crc() || request.crc(),
                false,
                enhanced,
                request.revision(),
                stream.peerToPeer(),
                stream.peerToPeer() ? rtr : 0,
                !enhanced ? 0 : request.ord() == MpaFrame.DEPTH_MASK ? MpaFrame.DEPTH_MASK : stream.ird(),
                !enhanced ? 0 : request.ird() == MpaFrame.DEPTH_MASK ? MpaFrame.DEPTH_MASK : stream.ord(),
                privateData);
    }

    /** The reply that rejects. */
    static MpaFrame reject(MpaFrame request, byte[] privateData) {
        return new MpaFrame(
                false,
                false,
                request.crc(),
                true,
                request.enhanced(),
                request.revision(),
                request.peerToPeer(),
                request.peerToPeer() ? MpaFrame.RTR_WRITE | MpaFrame.RTR_READ : 0,
                0,
                0,
                privateData);
    }
}
