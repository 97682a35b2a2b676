package org.softrdma.sim.engine;

/** A connection as its engine drives it. None of these throws: what fails costs the connection. Engine thread only. */
public interface DrivenConnection {
    /** Handles what was posted since the last doorbell. */
    void doorbell();

    /** Tries without an event: receives what may be there. */
    void attempt();

    /** The second look that it asked for ({@link SecondLook}): as {@link #attempt}. */
    void secondLook();

    /** True if the host of its peer is silent, as far as the kernel knows. Asked at regular intervals. */
    boolean isHostSilent();

    /** The peer's host has not answered within the host timeout. */
    void hostSilent();

    /** The device is closed: flushes, tells, and closes the socket. */
    void deviceClosed();

    /** Closes so that the peer sees a reset. */
    void abort();
}
