package org.softrdma.net.transport;

/** Events of a socket for its owner, raised on the event loop's thread. */
@FunctionalInterface
public interface SocketEvents {
    /**
     * The socket may be readable or writable, may have failed, or an outgoing connection has an outcome: try. Spurious
     * calls are legal.
     *
     * @param writable there may be room to send, or an outgoing connection has an outcome
     */
    void ready(boolean writable);

    /** What was given to {@link StreamSocket#gatherLater} has gone, or failed: {@link StreamSocket#gathered} says. */
    default void sentLater() {}
}
