package org.softrdma.sim.roce.cm;

/** Sends messages of the connection manager, from queue pair 1 to queue pair 1. */
@FunctionalInterface
public interface CmOutput {
    /**
     * Sends one, or loses it.
     *
     * @param peer where to
     * @param mad its {@link org.softrdma.sim.roce.wire.Mad#LENGTH} bytes, until the call returns
     */
    void send(CmPeer peer, long mad);
}
