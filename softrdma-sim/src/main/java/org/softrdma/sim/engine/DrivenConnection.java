package org.softrdma.sim.engine;

/** A connection as its engine drives it. No method throws: a failure ends the connection. Engine thread only. */
public interface DrivenConnection {
    /** Handles what was posted since the last doorbell. */
    void doorbell();

    /** Receives what may have arrived, without an event. */
    void attempt();

    /** Receives again, as it asked for ({@link ReceiveRetries}); like {@link #attempt}. */
    void retryReceive();

    /** True if the host of its peer is silent as far as the kernel knows. Called at regular intervals. */
    boolean isHostSilent();

    /** The peer's host has not answered within the host timeout. */
    void hostSilent();

    /** The device is being closed, or its loop fails: flushes, reports the end, and closes the socket. */
    void end(String reason);

    /** Closes with a reset for the peer. */
    void abort();
}
