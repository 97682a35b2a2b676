package org.softrdma.verbs.cm;

import java.util.Optional;

/**
 * A {@link DatagramListener} whose application decides on each question (C: a listening {@code rdma_cm_id} of {@code
 * RDMA_PS_UDP}).
 */
public interface DatagramRequestListener extends DatagramListener {
    /**
     * Waits for the next question. A peer that is not answered asks again, and then gives up; its question is here once.
     *
     * @param timeoutNs how long to wait; 0 returns at once
     * @return the question, for you to accept, reject or close; empty if none came in time, or if the listener is closed
     * @throws org.softrdma.verbs.VerbsException {@code INTERRUPTED} if the thread is interrupted
     */
    Optional<DatagramRequest> next(long timeoutNs);
}
