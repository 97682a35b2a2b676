package org.softrdma.sim.samehost;

/** A peer on this host may come for memory, and keep what it got, while this is open. Thread-safe. */
public interface PeerAdmission extends AutoCloseable {
    /** The connection has ended: whatever the peer reads from now on counts for nothing. */
    @Override
    void close();
}
