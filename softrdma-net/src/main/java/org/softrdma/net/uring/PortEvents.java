package org.softrdma.net.uring;

/** What a {@link RingPort} tells its owner, on the loop's thread. Implementations throw nothing. */
public interface PortEvents {
    /**
     * Something may have come, failed or ended. Spurious calls are legal.
     *
     * @param writable there may be room to send, or an outgoing connection has an outcome
     */
    void ready(boolean writable);

    /** What was gathered later has gone, or failed: {@link RingPort#gathered} says. */
    void sent();
}
