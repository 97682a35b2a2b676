package org.softrdma.ibverbs.device;

import java.util.OptionalInt;
import org.softrdma.verbs.QueuePairState;

/** A queue pair, as its id sees it: told about the connection. */
public interface ConnectionEnd {
    /** The state of the queue pair. */
    QueuePairState state();

    /**
     * The connection is established. The accepting side may be told twice, and of the end in between.
     *
     * @param outboundReads maximum number of READs in flight from this side, empty if unknown
     * @param inboundReads maximum number of READs in flight from the peer, empty if unknown
     * @return false if the queue pair was failed or closed before it was connected
     */
    boolean established(OptionalInt outboundReads, OptionalInt inboundReads);

    /**
     * Goes to ERROR and begins to flush; once. Any thread that holds no lock of a queue.
     *
     * @param reason for messages
     */
    void enterError(String reason);

    /**
     * Goes to ERROR and destroys the native queue pair, where a connect request cannot be rejected while that exists.
     */
    void destroyRejected();
}
