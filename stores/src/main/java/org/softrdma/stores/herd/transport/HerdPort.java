package org.softrdma.stores.herd.transport;

import java.net.InetSocketAddress;

/**
 * The server's end of the transport: takes clients, and knows when they are gone. Owned by the server's thread, but for
 * what is said to be a worker's.
 */
public interface HerdPort extends AutoCloseable {
    /** Where clients connect. */
    InetSocketAddress address();

    /** True if workers may run on threads of their own: the device does not belong to one thread. */
    boolean hasThreads();

    /**
     * Does what is due.
     *
     * @param host is told who comes and goes
     * @return 0 if there was nothing to do
     */
    int poll(HerdHost host);

    /**
     * A turn of a worker begins. The worker's.
     *
     * @param worker its number
     * @param nowNs the time
     */
    void turn(int worker, long nowNs);

    /** Ends all connections, and frees all memory. No worker runs any more. */
    @Override
    void close();
}
