package org.softrdma.sim.roce.cm;

import java.net.InetSocketAddress;

/**
 * The connection manager at an address of this host, for whoever takes queue pairs from state to state by himself (C:
 * {@code rdma_cm} beside {@code ibv_modify_qp}). The manager agrees with peers; the queue pairs know nothing of it, and of a
 * peer that has gone their owner hears from the manager.
 *
 * <p>Thread of the engine; in manual progress that of the device's owner.
 */
public interface CmPort {
    /** Where it hears: address and UDP port. */
    InetSocketAddress localAddress();

    /** Makes and ends connections; {@link #send} follows each call of it and of its connections. */
    CommunicationManager manager();

    /** What was said goes on its way. */
    void send();

    /** The time. */
    long nowNs();

    /** Most bytes of payload in a packet at this address. */
    int transferUnit();

    /** Packets that a new peer may have on their way to this port; 0 if that is unknown. */
    int heldPackets();

    /** Peers know a queue pair's number: it is not used again before {@link #forget}. */
    void keep(int queuePair);

    /** They do not any more. */
    void forget(int queuePair);

    /**
     * Runs something later.
     *
     * @return prevents it
     */
    Runnable later(Runnable task, long delayNs);
}
