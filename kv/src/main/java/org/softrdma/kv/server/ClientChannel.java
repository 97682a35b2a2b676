package org.softrdma.kv.server;

import io.netty.buffer.ByteBuf;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection to the memcached port, below its requests: bytes out, and the thread that owns it. Netty is behind it; a
 * network without sockets, or TLS in between, has its place here. What comes in goes to the {@link ClientHandler}. Methods
 * belong to the connection's thread unless they say otherwise.
 */
public interface ClientChannel {
    /** Where it came in. Any thread. */
    @Nullable
    SocketAddress localAddress();

    /** Whence it came. Any thread. */
    @Nullable
    SocketAddress remoteAddress();

    /**
     * Runs a task on the connection's thread. Any thread.
     *
     * @param task which
     */
    void execute(Runnable task);

    /**
     * Takes input from the network, or leaves it there.
     *
     * @param on true to take it
     */
    void reading(boolean on);

    /**
     * A buffer for output.
     *
     * @param length room that it has at least
     */
    ByteBuf buffer(int length);

    /** True unless too much waits to be sent. */
    boolean isWritable();

    /**
     * Takes bytes to be sent with the next flush.
     *
     * @param bytes released when they are sent, or never will be
     */
    void write(ByteBuf bytes);

    /**
     * Takes bytes to be sent with the next flush.
     *
     * @param bytes released when they are sent, or never will be
     * @param done run then
     */
    void write(ByteBuf bytes, Runnable done);

    /** Sends what the network takes. */
    void flush();

    /** True if all that was written is sent. */
    boolean isSent();

    /**
     * Runs a task when all that was written is sent, or never will be.
     *
     * @param task which
     */
    void whenSent(Runnable task);

    /** Bytes that wait to be sent; -1 once it is closed. */
    long pendingBytes();

    /** Closes it. */
    void close();
}
