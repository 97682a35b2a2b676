package org.softrdma.sim.rdmap;

import org.softrdma.sim.link.LocalRequests;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.SendQueue;

/**
 * One end of a stream: its queues, and the domain whose memory it may use. Engine thread only.
 *
 * @param sends send queue of this side
 * @param receives receive queue of this side
 * @param inboundReads requests of the peer that wait for a response
 * @param outboundReads requests of this side that wait for a response
 * @param domain number of the protection domain in the stag table
 * @param windows bound on this queue pair
 * @param local requests of the send queue that send nothing
 * @param sendEntries maximum number of scatter/gather entries of a request
 * @param rfc7306 this side speaks RFC 7306: atomics and immediates
 */
public record StreamEndpoint(
        SendQueue sends,
        ReceiveQueue receives,
        InboundReadQueue inboundReads,
        OutboundReadQueue outboundReads,
        int domain,
        StreamWindows windows,
        LocalRequests local,
        int sendEntries,
        boolean rfc7306) {}
