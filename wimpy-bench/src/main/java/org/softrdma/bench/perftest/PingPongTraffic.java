package org.softrdma.bench.perftest;

import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/**
 * Both ends of a ping-pong by SEND, or by WRITE with an empty SEND behind it, on data queue pair 0: {@link #serve} sends a
 * message, a RECV counts one that arrived, and an end that echoes answers it at once. Runs on the thread of its endpoint.
 */
final class PingPongTraffic implements Traffic {
    /** RECVs kept posted; one would do, as each is posted again before the answer is sent. */
    static final int RECEIVES = 4;
    /** One send in so many asks for a completion, so that slots of the send queue come back. */
    private static final int SIGNAL_INTERVAL = 16;
    /** Slots of the send queue: two requests a message, and two intervals in flight. */
    static final int SENDS = 4 * SIGNAL_INTERVAL;

    private final PerfEndpoint endpoint;
    private final boolean write;
    private final int inline;
    private final boolean echo;
    private long sizeBytes;
    private int sinceSignal;
    private long received;

    /**
     * One end.
     *
     * @param endpoint its queue pair
     * @param opcode SEND or WRITE
     * @param inline largest inline message
     * @param echo true to answer each message
     */
    PingPongTraffic(PerfEndpoint endpoint, SendOpcode opcode, int inline, boolean echo) {
        this.endpoint = endpoint;
        write = opcode == SendOpcode.WRITE;
        this.inline = inline;
        this.echo = echo;
    }

    @Override
    public void begin(long newSizeBytes, long iterations, long durationNs) {
        sizeBytes = newSizeBytes;
        received = 0;
    }

    /** Messages that arrived since {@link #begin}. */
    long received() {
        return received;
    }

    /** Sends a message. */
    void serve() {
        int signal = ++sinceSignal == SIGNAL_INTERVAL ? SendFlags.SIGNALLED : SendFlags.NONE;
        if (signal != 0) {
            sinceSignal = 0;
        }
        int inlineFlag = sizeBytes <= inline ? SendFlags.INLINE : SendFlags.NONE;
        var queuePair = endpoint.data(0);
        long wrId = PerfEndpoint.wrId(PerfEndpoint.DATA, 0, 1);
        if (write) {
            PerfEndpoint.require(
                    queuePair.postWrite(
                            wrId,
                            endpoint.region(),
                            0,
                            sizeBytes,
                            endpoint.remoteAddress(0),
                            endpoint.remoteKey(),
                            inlineFlag),
                    "WRITE");
            PerfEndpoint.require(queuePair.postSend(wrId, endpoint.region(), 0, 0, signal), "SEND");
        } else {
            PerfEndpoint.require(
                    queuePair.postSend(wrId, endpoint.region(), 0, sizeBytes, inlineFlag | signal), "SEND");
        }
    }

    @Override
    public void completed(int kind, int queuePair, int count) {
        if (kind == PerfEndpoint.RECEIVE) {
            received++;
            endpoint.postReceive(0);
            if (echo) {
                serve();
            }
        }
    }

    @Override
    public boolean answers() {
        return echo;
    }
}
