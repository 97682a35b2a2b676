package org.softrdma.kv.server.host;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection to the memcached port, below its requests: bytes in and out, and the thread that owns it.
 * Behind it are event loops, perhaps with TLS in between, of the system or simulated. What comes in goes to the
 * {@link ClientHandler}. Methods belong to the connection's thread unless they say otherwise.
 */
public interface ClientChannel {
    /** With more than this to be sent, it is not writable until less than {@link #LOW_OUTPUT_BYTES} are left. */
    int HIGH_OUTPUT_BYTES = 1024 * 1024;

    /** See {@link #HIGH_OUTPUT_BYTES}. */
    int LOW_OUTPUT_BYTES = 256 * 1024;

    /** The server's end of the connection. Any thread. */
    @Nullable
    SocketAddress localAddress();

    /** The client's end of the connection. Any thread. */
    @Nullable
    SocketAddress remoteAddress();

    /**
     * Runs a task on the connection's thread. Any thread.
     *
     * @param task which
     */
    void execute(Runnable task);

    /**
     * Runs a task after other connections of the thread had their turn. Any thread.
     *
     * @param task which
     */
    default void nextTurn(Runnable task) {
        execute(task);
    }

    /**
     * Takes input from the network, or leaves it there.
     *
     * @param on true to take it
     */
    void reading(boolean on);

    /** The oldest input that the handler still holds is used up: its memory may be used again. */
    void releaseInput();

    /**
     * A buffer to be filled with output from its position on. There is one at a time: fill it, then
     * {@link #sendBuffer} or {@link #dropBuffer}.
     *
     * @param length room that it has at least, in bytes
     * @throws OutOfBuffersException if there is no memory for it
     */
    ByteBuffer buffer(int length);

    /** Takes what was put into the buffer, to be sent with the next flush. */
    void sendBuffer();

    /** Takes the buffer back. What was put into it is not sent. */
    void dropBuffer();

    /**
     * Takes bytes to be sent with the next flush, straight from where they are.
     *
     * @param bytes must not change until they are done with
     * @param done run when they are sent, or never will be
     */
    void send(ByteBuffer bytes, Runnable done);

    /** True unless too much waits to be sent. */
    boolean isWritable();

    /** Sends what the network takes, now or at the end of the thread's turn. */
    void flush();

    /** Sends what the network takes, now. */
    default void flushNow() {
        flush();
    }

    /**
     * True if everything is sent, or is little and goes with this turn; {@link ClientHandler#unsent} says if it did not.
     */
    boolean isSent();

    /**
     * Runs a task when everything is sent, or never will be.
     *
     * @param task which
     */
    void whenSent(Runnable task);

    /** Bytes that wait to be sent; -1 once the channel is closed. */
    long pendingBytes();

    /** Closes it. */
    void close();
}
