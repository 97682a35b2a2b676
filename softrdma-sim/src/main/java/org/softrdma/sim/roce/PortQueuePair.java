package org.softrdma.sim.roce;

import org.softrdma.net.transport.PeerAddress;

/** A queue pair on a {@link RocePort}, which gets its packets and has its own to send. Engine thread only. */
interface PortQueuePair {
    /** The transport of its packets, as opcodes have it; others are dropped. */
    int transport();

    /** True if it takes packets of a host; others are dropped. */
    boolean isFrom(PeerAddress host);

    /** A packet of the peer, which was checked. */
    void received(Arrival arrival, long packet, int length, long nowNs);

    /** True if it was not among those that may have something to send, and is from now on. */
    boolean enqueue();

    /** Adds packets to a stage, and is not among those any more; true if there may be more. */
    boolean fill(PacketStage stage);

    /** When {@link #onTime} is due. */
    long deadlineNs();

    /** Time has passed. */
    void onTime(long nowNs);

    /** What was added is sent. */
    void turn();

    /** The port ends. */
    void end(String reason);
}
