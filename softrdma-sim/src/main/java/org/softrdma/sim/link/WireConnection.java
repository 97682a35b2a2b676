package org.softrdma.sim.link;

import org.softrdma.sim.engine.RnicEngine;

/**
 * A connection, as its queue pair sees it. It takes the requests of the send queue, in order, and calls {@link
 * QueuePairEnd}.
 *
 * <p>Engine thread only, unless a method says otherwise.
 */
public interface WireConnection {
    /** The engine it is pinned to. Any thread. */
    RnicEngine engine();

    /**
     * Sets the queue pair that posts to it. Called by the thread that creates the queue pair, before anything is
     * posted.
     */
    void attach(QueuePairEnd queuePair);

    /** A request was posted. Any thread; in manual mode the owner. */
    void ring();

    /** Runs a step of this connection, soon and in a task of its own; if it fails, the connection ends. Any thread. */
    void executeLater(Runnable step);

    /** The application ends the connection. */
    void disconnect(String reason);

    /** The application destroys the queue pair: it is not used any more after this. */
    void queuePairClosed();
}
