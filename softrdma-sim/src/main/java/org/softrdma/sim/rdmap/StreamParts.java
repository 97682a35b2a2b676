package org.softrdma.sim.rdmap;

import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.TerminateCause;

/**
 * What all kinds of messages of a stream share. Engine thread only.
 *
 * @param engine of the connection
 * @param endpoint queues and domain
 * @param events told of events that messages cause
 * @param fpdus where outgoing segments go
 * @param placement where the payload of incoming segments goes
 */
public record StreamParts(
        RnicEngine engine, StreamEndpoint endpoint, StreamEvents events, FpduWriter fpdus, Placement placement) {
    /** True if a request on queue 1 has the number and the offset of the next one; else the stream goes down. */
    boolean isNextRequest(long segment) {
        if (NativeMemory.getInt(segment + Ddp.MSN_OFFSET)
                != endpoint.inboundReads().nextMsn()) {
            return protocolError(TerminateCause.DDP_MSN_RANGE, segment);
        }
        return NativeMemory.getInt(segment + Ddp.MESSAGE_OFFSET_OFFSET) == 0
                || protocolError(TerminateCause.DDP_MESSAGE_OFFSET, segment);
    }

    /** The peer broke a rule: counts it and terminates the stream. Always false. */
    boolean protocolError(TerminateCause cause, long segment) {
        engine.counters().increment(Counter.PROTOCOL_ERRORS);
        events.requestRefused();
        events.terminate(cause, segment);
        return false;
    }

    /** The peer lacks the right to do what it asked for: terminates the stream. Always false. */
    boolean accessError(TerminateCause cause, long segment) {
        events.accessRefused();
        events.terminate(cause, segment);
        return false;
    }
}
