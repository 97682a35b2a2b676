package org.softrdma.sim.transport;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A non-blocking socket for datagrams, which moves bytes at raw addresses. A datagram arrives whole or not at all,
 * perhaps twice, and in any order. All methods on its event loop only.
 *
 * <p>It is meant for queue pairs of unreliable datagrams, as HERD uses them. No device has such queue pairs yet, so
 * nothing but tests uses it; the fabric implements it, and UDP will. Calls take batches because a call per datagram
 * costs more than the datagram.
 *
 * <p>Readiness is edge triggered: after an event, receive until fewer datagrams arrive than there are buffers. To stop
 * earlier, call {@link #rearm} and continue at the next event.
 */
public interface DatagramSocket {
    /** Most bytes of a datagram: what one packet of the network holds. Nothing is cut and put together again. */
    int maxBytes();

    /** The actual address and port. */
    InetSocketAddress localAddress();

    /**
     * Sends what there is room for.
     *
     * @param batch datagrams
     * @param from the first one to send
     * @param count how many
     * @return how many were sent, perhaps 0; if fewer than asked for, {@link #awaitRoom} raises an event when there is
     *     room. That a datagram was sent says nothing of its arrival.
     * @throws IllegalArgumentException if one is longer than {@link #maxBytes}; none was sent then
     * @throws IOException if the socket is closed or broken
     */
    int send(DatagramBatch batch, int from, int count) throws IOException;

    /**
     * Receives what is there. A datagram for which the socket has no room when it arrives is lost.
     *
     * @param batch buffers, from the first; says of each datagram its length and its sender
     * @return how many were received, perhaps 0
     * @throws IOException if the socket is closed or broken
     */
    int receive(DatagramBatch batch) throws IOException;

    /** Raises an event as soon as there is room to send. */
    void awaitRoom();

    /** Raises an event soon, after the other sockets had their turn, if there is something to receive. */
    void rearm();

    /** Closes without waiting. Idempotent, never throws. */
    void close();
}
