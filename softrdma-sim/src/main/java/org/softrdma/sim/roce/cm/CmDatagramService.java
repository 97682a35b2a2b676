package org.softrdma.sim.roce.cm;

import org.softrdma.sim.roce.wire.ServiceRequest;

/** A service whose peers send datagrams to its queue pair. */
@FunctionalInterface
public interface CmDatagramService {
    /**
     * A peer asks for the queue pair; once for each question that is heard.
     *
     * @param peer who asks
     * @param request what it asks
     * @param question to be answered, here or later
     * @return false if it was not heard, as if it throws
     */
    boolean asked(CmPeer peer, ServiceRequest request, CmQuestion question);
}
