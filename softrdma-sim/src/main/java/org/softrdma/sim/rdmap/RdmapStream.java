package org.softrdma.sim.rdmap;

/** The kinds of messages of one stream, put together: what it sends and what it receives. Engine thread only. */
public final class RdmapStream {
    private final Outgoing outgoing;
    private final Incoming incoming;
    private final Writes writes;

    /** A stream on which nothing was sent or received yet. */
    public RdmapStream(StreamParts parts) {
        RequestPayload payload = new RequestPayload(parts);
        Sends sends = new Sends(parts, payload);
        Reads reads = new Reads(parts);
        ReadResponses readResponses = new ReadResponses(parts);
        Terminates terminates = new Terminates(parts);
        writes = new Writes(parts, payload);
        outgoing = new Outgoing(parts, payload, writes, sends, reads, readResponses, terminates);
        incoming = new Incoming(parts, writes, sends, reads, readResponses, terminates);
    }

    /** What it sends. */
    public Outgoing outgoing() {
        return outgoing;
    }

    /** What it receives. */
    public Incoming incoming() {
        return incoming;
    }

    /** The first message will be the initiator's ready-to-receive, a WRITE of no bytes that is not the application's. */
    public void expectReadyToReceive() {
        writes.expectReadyToReceive();
    }
}
