package org.softrdma.testkit;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.SendFlags;

/** Two connected queue pairs: the requester connected and sends first, the responder accepted. */
public final class LoopbackPair {
    private static final long BARRIER = 0xBA881E8L;
    private static final Set<CompletionStatus> FLUSHED = Set.of(CompletionStatus.FLUSHED);

    private final Endpoint requester;
    private final Endpoint responder;
    private final MemoryRegion barrierSink;
    private final MemoryRegion barrierSource;
    private final byte[] privateDataOfAccept;

    LoopbackPair(
            Endpoint requester,
            Endpoint responder,
            MemoryRegion barrierSink,
            MemoryRegion barrierSource,
            byte[] privateDataOfAccept) {
        this.requester = requester;
        this.responder = responder;
        this.barrierSink = barrierSink;
        this.barrierSource = barrierSource;
        this.privateDataOfAccept = privateDataOfAccept;
    }

    /** The end that connected. */
    public Endpoint requester() {
        return requester;
    }

    /** The end that accepted. */
    public Endpoint responder() {
        return responder;
    }

    /** The private data that the responder sent when it accepted. */
    public byte[] privateDataOfAccept() {
        return privateDataOfAccept.clone();
    }

    /** Features of the connection and of both devices. */
    public Set<Feature> features() {
        EnumSet<Feature> features = EnumSet.noneOf(Feature.class);
        features.addAll(requester.queuePair().connectionCapabilities().features());
        features.addAll(requester.node().device().capabilities().features());
        return features;
    }

    /**
     * Waits until every WRITE that the requester has posted is placed at the responder, by a READ behind it (RFC 5040,
     * section 5.5). The requester's completions must have been taken.
     */
    public void barrier() {
        requester.read(BARRIER, barrierSink, barrierSource);
        requester.sends().expect(BARRIER, CompletionOpcode.READ, barrierSink.length());
    }

    /**
     * Waits until both ends are in ERROR, then checks on both that requests posted now are flushed. The completions of
     * earlier requests must have been taken.
     */
    public void expectBothBroken() {
        requester.awaitError();
        responder.awaitError();
        expectFlush(requester);
        expectFlush(responder);
    }

    private void expectFlush(Endpoint end) {
        String where = end.node().name() + "'s queue pair in ERROR";
        long sendId = 0xF1A5L;
        long receiveId = 0xF1A6L;
        Endpoint.require(
                end.queuePair().postSend(sendId, end.node().scratch(), 0, 1, SendFlags.NONE),
                "unsignalled SEND to the " + where);
        end.sends().expect(sendId, FLUSHED, "flush of an unsignalled SEND on the " + where);
        if (!end.sharesReceives()) {
            end.receive(receiveId, end.node().scratch(), 0, 1);
            end.receives().expect(receiveId, FLUSHED, "flush of a RECV on the " + where);
        }
    }
}
