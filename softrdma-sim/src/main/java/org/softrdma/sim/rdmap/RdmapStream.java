package org.softrdma.sim.rdmap;

/** The messages of one stream: what it sends and what it receives. Engine thread only. */
public final class RdmapStream {
    private final Outgoing outgoing;
    private final Incoming incoming;

    /** A stream on which nothing was sent or received yet. */
    public RdmapStream(StreamParts parts) {
        outgoing = new Outgoing(parts);
        incoming = new Incoming(parts, outgoing);
    }

    /** What it sends. */
    public Outgoing outgoing() {
        return outgoing;
    }

    /** What it receives. */
    public Incoming incoming() {
        return incoming;
    }

    /**
     * The first message will be the initiator's ready-to-receive, a WRITE of no bytes that is not the application's.
     */
    public void expectReadyToReceive() {
        outgoing.writes().expectReadyToReceive();
    }
}
