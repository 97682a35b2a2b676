package org.softrdma.net.transport;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A non-blocking socket for datagrams, which moves bytes at raw addresses. A datagram arrives whole or not at all,
 * perhaps twice, and in any order. All methods on its event loop only.
 *
 * <p>It is alone on its port: neither another socket of this process nor one of another process gets it meanwhile. Datagrams
 * are never cut into fragments. What becomes of the datagrams of one peer costs neither the socket nor its other peers
 * anything: if the kernel refuses one, it is lost and counted.
 *
 * <p>If {@link SocketEvents#ready} throws, the socket stays open and raises the event again. Calls take batches because a call
 * per datagram costs more than the datagram.
 *
 * <p>Readiness is edge triggered: after an event, receive until fewer entries are filled than there are buffers. To stop
 * earlier, call {@link #rearm} and continue at the next event.
 */
public interface DatagramSocket {
    /** Most bytes of a datagram of IP, and of all datagrams of a train. */
    int MAX_TRAIN_BYTES = DatagramBatch.MAX_TRAIN_BYTES;

    /** Most datagrams of a train. */
    int MAX_SEGMENTS = DatagramBatch.MAX_SEGMENTS;

    /** Most bytes of a datagram: what one packet of the network holds. Nothing is cut and put together again. */
    int maxBytes();

    /**
     * Most datagrams of a train that is sent as such. 1 if trains are cut here: by a kernel that does not know them, and from the
     * first time on that it has refused one. Over IPv4 the datagrams of a train have the identifications 0, 1, 2 and so on, but
     * all have 0 if it is cut here.
     */
    int maxSegments();

    /** The actual address and port. */
    InetSocketAddress localAddress();

    /**
     * Sends what there is room for. A train is sent as a whole or not at all.
     *
     * @param batch datagrams and trains
     * @param from the first one to send
     * @param count how many
     * @return how many were sent, perhaps 0; if fewer than asked for, {@link #awaitRoom} raises an event when there is
     *     room. That a datagram was sent says nothing of its arrival.
     * @throws IllegalArgumentException if one is longer than {@link #maxBytes}, or a train than {@link #MAX_TRAIN_BYTES} or {@link
     *     #MAX_SEGMENTS}; none was sent then
     * @throws IOException if the socket is closed or broken
     */
    int send(DatagramBatch batch, int from, int count) throws IOException;

    /**
     * Receives what is there. A datagram for which the socket has no room when it arrives is lost.
     *
     * @param batch buffers, from the first; says of each its length and its sender. Datagrams of one sender may arrive as a train,
     *     however they were sent; a buffer of {@link #MAX_TRAIN_BYTES} has room for every train
     * @return how many were filled, perhaps 0
     * @throws IOException if the socket is closed or broken
     */
    int receive(DatagramBatch batch) throws IOException;

    /** What the socket has room for, as the kernel counts it: more than the bytes of what it holds. 0 if unknown. */
    int receiveBuffer();

    /** Datagrams that arrived and were dropped because there was no room; 0 on a transport that does not know. */
    long dropped();

    /** Datagrams that were given to {@link #send} and that the kernel refused: no route, too long for the path, forbidden. */
    long refused();

    /** Trains that were cut into their datagrams by this socket. */
    long trainsCut();

    /** Raises an event as soon as there is room to send. */
    void awaitRoom();

    /** Raises an event soon, after the other sockets had their turn, if there is something to receive. */
    void rearm();

    /** Closes without waiting. Idempotent, never throws. */
    void close();
}
