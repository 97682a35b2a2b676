package org.softrdma.kv.client.network;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes to and from a memcached port. Nothing blocks but {@link #await}. Owned by the client's thread. */
public interface ClientStream extends AutoCloseable {
    /**
     * True once it is connected; {@link #await} tells when to ask again.
     *
     * @throws IOException if it never will be
     */
    boolean finishConnect() throws IOException;

    /**
     * Takes what has come.
     *
     * @param target takes it
     * @return bytes taken, -1 at the end of the stream
     * @throws IOException if the stream is broken
     */
    int read(ByteBuffer target) throws IOException;

    /**
     * Gives away what there is room for.
     *
     * @param source of the bytes
     * @throws IOException if the stream is broken
     */
    void write(ByteBuffer source) throws IOException;

    /**
     * Waits for something to read, for the connection if there is none yet, for a wake-up, or for the time to pass.
     *
     * @param timeoutNs how long
     * @param orRoom true to wait for room to write as well
     * @return true if the stream is why this ended
     * @throws IOException if the stream is broken
     */
    boolean await(long timeoutNs, boolean orRoom) throws IOException;

    @Override
    void close() throws IOException;
}
