package org.softrdma.sim.samehost;

/** Who reads from the memory of a peer; each is one thread at a time. */
public enum ReadingThread {
    /** The thread that posts, under the lock of the send queue. */
    POSTING,
    /** The engine of the queue pair. */
    ENGINE
}
