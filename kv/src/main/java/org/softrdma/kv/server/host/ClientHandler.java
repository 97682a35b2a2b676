package org.softrdma.kv.server.host;

import java.nio.ByteBuffer;

/**
 * What happens on a {@link ClientChannel}. Called by the connection's thread; what is thrown goes to {@link #failed}.
 */
public interface ClientHandler {
    /** The client has connected. */
    void opened();

    /**
     * Bytes have come. They stay where they are until the handler says {@link ClientChannel#releaseInput}: once for
     * each call of this, in the same order.
     *
     * @param bytes what came, from position to limit; the handler moves the position as it likes
     */
    void received(ByteBuffer bytes);

    /** No more has come for now. */
    void receivedAll();

    /**
     * The client sends no more, but may still read: what it has asked is to be answered, then the connection is to be
     * closed. Not called if both directions have ended.
     */
    void inputEnded();

    /** The turn is over, and the network did not take all of what {@link ClientChannel#isSent} had said would go. */
    void unsent();

    /** There is room for output again. */
    void writable();

    /**
     * Something went wrong; the connection is to be closed.
     *
     * @param cause what; {@link OutOfBuffersException} if there was no memory for input
     */
    void failed(Throwable cause);

    /** The client that had connected is gone. */
    void ended();

    /** Nothing else will happen: gives back what it holds. May be called more than once. */
    void release();
}
