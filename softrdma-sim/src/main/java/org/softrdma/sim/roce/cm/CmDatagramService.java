package org.softrdma.sim.roce.cm;

import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.sim.roce.wire.ServiceRequest;

/** A service whose peers send datagrams to its queue pair. */
@FunctionalInterface
public interface CmDatagramService {
    /**
     * A peer asks for the queue pair; once for each question.
     *
     * @param peer who asks
     * @param request its question
     * @return the answer, of the request's id
     */
    ServiceReply asked(CmPeer peer, ServiceRequest request);
}
