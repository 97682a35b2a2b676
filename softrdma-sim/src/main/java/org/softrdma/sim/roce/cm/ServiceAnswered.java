package org.softrdma.sim.roce.cm;

import java.util.Optional;
import org.softrdma.sim.roce.wire.ServiceReply;

/** Told of the answer to a question for a datagram service. */
@FunctionalInterface
public interface ServiceAnswered {
    /** The answer; empty if none has come in time. */
    void answered(Optional<ServiceReply> reply);
}
