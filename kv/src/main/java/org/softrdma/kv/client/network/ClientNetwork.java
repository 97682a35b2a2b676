package org.softrdma.kv.client.network;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * How a client reaches its server's memcached port, and where its thread waits meanwhile: sockets unless
 * {@code KvClientContext.network} says otherwise. One for each client; owned by the client's thread, except for
 * {@link #wakeUp}.
 */
public interface ClientNetwork extends AutoCloseable {
    /**
     * Begins to connect. The stream that was opened before is closed by then.
     *
     * @param server its memcached port
     * @return to be connected, see {@link ClientStream#finishConnect}
     * @throws IOException if that cannot even begin
     */
    ClientStream open(InetSocketAddress server) throws IOException;

    /**
     * Waits for a wake-up, or for the time to pass; for a client without a stream.
     *
     * @param timeoutNs how long
     * @throws IOException if there is nowhere to wait
     */
    void pause(long timeoutNs) throws IOException;

    /** Ends the present wait, here or of the stream, or else the next one. Any thread. */
    void wakeUp();

    @Override
    void close();
}
