package org.softrdma.sim.roce.cm;

import org.softrdma.sim.roce.wire.ServiceReply;

/** A question for the queue pair of a datagram service that waits for its answer. Thread of the manager. */
public interface CmQuestion {
    /**
     * Answers it, once; and again whenever it comes again, for as long as it may.
     *
     * @param reply of the request's id
     * @param nowNs the time
     */
    void answer(ServiceReply reply, long nowNs);
}
