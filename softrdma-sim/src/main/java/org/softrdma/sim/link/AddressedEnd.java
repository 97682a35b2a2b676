package org.softrdma.sim.link;

import java.io.IOException;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;

/**
 * What a wire has for a queue pair that its application connects by addresses, or that sends datagrams to them. No
 * connection manager knows of it.
 *
 * <p>Engine thread only, unless a method says otherwise.
 */
public interface AddressedEnd {
    /** What the queue pair posts to. Any thread. */
    WireConnection connection();

    /**
     * Makes it ready for its peers, once, before anything else; one of datagrams is established by this.
     *
     * @param queuePair attached to the connection
     * @return what peers must know of it
     * @throws IOException if it can have no UDP port
     */
    QueuePairAddress open(QueuePairEnd queuePair) throws IOException;

    /**
     * Connects it, or ends it if that fails.
     *
     * @param peer of the same family of addresses
     * @param outboundReads READs and atomics that this side may have in flight
     * @param inboundReads those of the peer
     */
    void connect(QueuePairAddress peer, int outboundReads, int inboundReads);

    /**
     * Refuses a handle by which it cannot send. Any thread.
     *
     * @param host where a datagram is to go
     * @param domain of the queue pair
     * @throws IllegalArgumentException if it is no handle of this domain
     * @throws IllegalStateException if it is closed
     */
    void checkDestination(AddressHandle host, ProtectionDomain domain);
}
