package org.softrdma.net.transport;

import java.io.IOException;
import java.net.SocketAddress;

/**
 * A non-blocking byte stream that moves bytes at raw addresses. All methods on its event loop only.
 *
 * <p>Readiness is edge triggered: after an event, receive until fewer bytes arrive than were asked for and {@link
 * #hasMore} says that this was all, and gather until fewer bytes go than were given (epoll(7)). To stop earlier, call {@link #rearm} and continue at the next event.
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
     * True if there may be something to receive of which no further event will tell, though the last receive got fewer bytes
     * than it asked for: they had come ahead, and the kernel has more; or an event has said that the peer ended its stream
     * or that the connection broke. Receive until {@link #END_OF_STREAM}, a failure, or nothing.
     */
    boolean hasMore();

    /**
     * Says what the caller expects. A socket may receive ahead of its owner's calls, into memory of its own; that saves
     * calls for short messages, and costs a copy of long ones.
     *
     * @param wanted true when the socket was empty and short messages are expected; false when a large payload comes,
     *     whose bytes are to stay with the kernel until {@link #receive} or {@link #scatter} says where they go
     */
    default void receiveAhead(boolean wanted) {}

    /** True if bytes have come ahead. */
    default boolean hasAhead() {
        return false;
    }

    /**
     * Lends bytes that the socket has received ahead, until the next call or the end of the event. They count as
     * received.
     *
     * @return how many, 0 if there are none; {@link #lentAddress} says where
     */
    default int lend() {
        return 0;
    }

    /** Where the bytes are that were lent last. */
    default long lentAddress() {
        throw new IllegalStateException("nothing is lent");
    }

    /**
     * Raises an event soon, after the other sockets had their turn, if there is something to receive or room to send.
     */
    void rearm();

    /**
     * Suppresses events until {@link #rearm}, but for those of {@link #awaitRoom}: there is input, or the end of it, that is not
     * wanted now. Whoever has received the end calls this: some transports would tell of it again and again.
     */
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

    /**
     * Sends what the kernel takes, at the end of this round of events, together with other sockets. The memory must stay
     * until {@link SocketEvents#sentLater}; no call of this socket is needed before, and the kernel keeps none of its addresses
     * after it.
     *
     * @param vectors {@link IoVectors}
     * @param count number of entries, from the first
     * @return false if it cannot: use {@link #gather}
     */
    default boolean gatherLater(IoVectors vectors, int count) {
        return false;
    }

    /**
     * The result of the last {@link #gatherLater}, as of {@link #gather}. If it was not sent yet, it is now.
     *
     * @throws IOException if the connection broke
     */
    default long gathered() throws IOException {
        throw new IllegalStateException("nothing was to be sent later");
    }

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

    /** The local address: an {@link java.net.InetSocketAddress}, or the {@link java.net.UnixDomainSocketAddress} that was listened on. */
    SocketAddress localAddress();

    /**
     * The peer's address: an {@link java.net.InetSocketAddress}, or a {@link java.net.UnixDomainSocketAddress}, whose path is
     * empty if the peer is bound to no file.
     */
    SocketAddress remoteAddress();

    /** Ends the outgoing stream; the peer reads the end of it behind the last byte. Never throws. */
    void shutdownOutput();

    /** Closes without waiting. Idempotent, never throws. */
    void close();

    /**
     * Closes with a reset for the peer; a Unix socket has one only if the peer has sent what was not received. Idempotent, never
     * throws.
     */
    void abort();
}
