package org.softrdma.ibverbs.device;

import java.util.OptionalInt;
import org.softrdma.verbs.QueuePairState;

/** What an id tells its queue pair about the connection. */
public interface ConnectionEnd {
    /** The state of the queue pair. */
    QueuePairState state();

    /**
     * The connection is there. The side that accepts may be told twice, and hear of the end in between.
     *
     * @param outboundReads in flight from this side, empty if unknown
     * @param inboundReads in flight from the peer, empty if unknown
     * @return false if the queue pair was failed or closed before it was connected
     */
    boolean established(OptionalInt outboundReads, OptionalInt inboundReads);

    /**
     * Goes to ERROR and begins to flush; once. Any thread, under no lock of a queue.
     *
     * @param reason for people
     */
    void enterError(String reason);

    /** Goes to ERROR without its native queue pair, where a connect request cannot be rejected while that is there. */
    void destroyRejected();
}
