package org.softrdma.sim.link;

import org.softrdma.verbs.cm.ConnectionParameters;

/** A connection that this side can begin. Any thread. */
public interface WireConnector {
    /** The connection, for the queue pair. */
    WireConnection connection();

    /**
     * Prepares to connect; once.
     *
     * @param queuePair attached to the connection
     * @param parameters what this side wants, within the device's limits
     */
    ConnectAttempt attempt(QueuePairEnd queuePair, ConnectionParameters parameters);
}
