package org.softrdma.bench.perftest;

import org.softrdma.verbs.SendFlags;

/**
 * The receiver of {@code send-bw} and {@code write-imm-bw}: posts each RECV again and grants the sender credits by an empty SEND for each half of the
 * receive queue. A SEND that finds no RECV may end the connection, so the sender never has more than a receive queue of them
 * unanswered. Runs on the thread of its endpoint.
 */
final class SinkTraffic implements Traffic {
    private final PerfEndpoint endpoint;
    private final int grant;
    private final int[] owed;

    /**
     * For all data queue pairs of an endpoint.
     *
     * @param endpoint the endpoint, all data queue pairs created
     * @param receives size of the receive queues
     */
    SinkTraffic(PerfEndpoint endpoint, int receives) {
        this.endpoint = endpoint;
        grant = grant(receives);
        owed = new int[endpoint.dataCount()];
    }

    /** RECVs that one credit message stands for. */
    static int grant(int receives) {
        return Math.max(1, receives / 2);
    }

    @Override
    public void completed(int kind, int queuePair, int count) {
        if (kind != PerfEndpoint.RECEIVE) {
            return;
        }
        endpoint.postReceive(queuePair);
        if (++owed[queuePair] == grant) {
            owed[queuePair] = 0;
            PerfEndpoint.require(
                    endpoint.data(queuePair)
                            .postSend(
                                    PerfEndpoint.wrId(PerfEndpoint.CREDIT, queuePair, 0),
                                    endpoint.region(),
                                    0,
                                    0,
                                    SendFlags.SIGNALLED),
                    "credit SEND");
        }
    }

    @Override
    public boolean answers() {
        return true;
    }
}
