package org.softrdma.kv.server;

import io.netty.buffer.ByteBuf;

/** What happens on a {@link ClientChannel}. Called by the connection's thread; what is thrown goes to {@link #failed}. */
public interface ClientHandler {
    /** The client has connected. */
    void opened();

    /**
     * Bytes have come.
     *
     * @param bytes to be released by the handler
     */
    void received(ByteBuf bytes);

    /** No more has come for now. */
    void receivedAll();

    /** There is room for output again. */
    void writable();

    /**
     * Something went wrong; the connection is to be closed.
     *
     * @param cause what
     */
    void failed(Throwable cause);

    /** The client that had connected is gone. */
    void ended();

    /** Nothing else will happen: gives back what it holds. More than once, too. */
    void release();
}
