package org.softrdma.sim.transport;

/** What an event loop tells the owner of a socket, on the loop's thread. */
@FunctionalInterface
public interface SocketEvents {
    /**
     * The socket may be readable or writable, has failed, or an outgoing connection has an outcome: try. Spurious calls are
     * legal.
     *
     * @param writable there may be room to send, or an outgoing connection has an outcome
     */
    void ready(boolean writable);
}
