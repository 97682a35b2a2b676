package org.softrdma.stores.herd.transport;

import java.net.InetSocketAddress;

/** The server's end of the transport: takes clients, and knows when they are gone. Owned by the server's thread. */
public interface HerdPort extends AutoCloseable {
    /** Where clients connect. */
    InetSocketAddress address();

    /**
     * Does what is due.
     *
     * @param host is told who comes and goes
     * @return 0 if there was nothing to do
     */
    int poll(HerdHost host);

    /** Ends all connections. */
    @Override
    void close();
}
