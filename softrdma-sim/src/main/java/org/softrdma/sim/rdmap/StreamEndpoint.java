package org.softrdma.sim.rdmap;

import org.softrdma.sim.queue.InboundReadQueue;
import org.softrdma.sim.queue.OutboundReadQueue;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.SendQueue;

/**
 * One end of a stream: the queues it works on, and what it may touch. Engine thread only.
 *
 * @param sends requests of this side
 * @param receives RECVs of this side
 * @param inboundReads requests of the peer that wait for their response
 * @param outboundReads requests of this side that wait for their response
 * @param domain number of the protection domain in the stag table
 * @param sendEntries most scatter/gather entries of a request
 */
public record StreamEndpoint(
        SendQueue sends,
        ReceiveQueue receives,
        InboundReadQueue inboundReads,
        OutboundReadQueue outboundReads,
        int domain,
        int sendEntries) {}
