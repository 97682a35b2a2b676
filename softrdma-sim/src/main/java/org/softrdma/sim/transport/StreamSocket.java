package org.softrdma.sim.transport;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A non-blocking byte stream that moves bytes at raw addresses. All methods on its event loop only.
 *
 * <p>Readiness is edge triggered: after an event, receive until fewer bytes arrive than were asked for, and gather
 * until fewer bytes go than were given (epoll(7)). To stop earlier, call {@link #rearm} and continue at the next event.
 */
public interface StreamSocket {
    /** Result of {@link #receive}: the peer has ended its stream. */
    int END_OF_STREAM = -1;

    /**
     * Receives what is there.
     *
     * @param address where to
     * @param length most bytes, more than 0
     * @return bytes received, 0 if nothing is there, or {@link #END_OF_STREAM}
     * @throws IOException if the connection broke
     */
    int receive(long address, int length) throws IOException;

    /**
     * Receives what is there into several buffers, in order.
     *
     * @param vectors where to
     * @param count number of entries, from the first
     * @return as {@link #receive}
     * @throws IOException if the connection broke
     */
    int scatter(IoVectors vectors, int count) throws IOException;

    /**
     * True if an event has said that the peer ended its stream or that the connection broke. No further event will say
     * so: receive until {@link #END_OF_STREAM} or a failure.
     */
    boolean isHungUp();

    /**
     * Raises an event soon, after the other sockets had their turn, if there is something to receive or room to send.
     */
    void rearm();

    /** Suppresses events until {@link #rearm}: there is input, or the end of it, that is not wanted now. */
    void pause();

    /**
     * Sends what the kernel takes.
     *
     * @param vectors {@link IoVectors}
     * @param from first entry
     * @param count number of entries, at most {@link IoVectors#MAX_ENTRIES}
     * @return bytes sent, perhaps 0; if less than given, {@link #awaitRoom} raises an event when there is room
     * @throws IOException if the connection broke
     */
    long gather(IoVectors vectors, int from, int count) throws IOException;

    /** Raises an event as soon as there is room to send. */
    void awaitRoom();

    /**
     * Completes an outgoing connection after its first event.
     *
     * @return true if it is connected, false if that takes more time
     * @throws IOException if it failed, for example refused
     */
    boolean finishConnect() throws IOException;

    /**
     * True if the peer's host is gone: the kernel has probed it repeatedly, and nothing has arrived for the host
     * timeout. A host whose application does not read is not gone, because its kernel answers. A transport that cannot
     * tell returns false; its receive calls fail once the kernel knows.
     *
     * @see HostSilentException
     */
    boolean isHostSilent();

    /** The local address. */
    InetSocketAddress localAddress();

    /** The peer's address. */
    InetSocketAddress remoteAddress();

    /** Ends the outgoing stream; the peer reads the end of it behind the last byte. Never throws. */
    void shutdownOutput();

    /** Closes without waiting. Idempotent, never throws. */
    void close();

    /** Closes with a reset for the peer. Idempotent, never throws. */
    void abort();
}
