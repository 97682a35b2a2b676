package org.softrdma.sim.transport;

import java.io.IOException;
import java.net.InetSocketAddress;

/** An event loop that drives datagram sockets too. */
public interface DatagramLoop extends EventLoop {
    /**
     * Opens a socket for datagrams. On the loop.
     *
     * @param local address and port, 0 for any
     * @param events told of readiness
     * @throws ListenException if the address cannot be used
     * @throws IOException if there is no socket for it
     */
    DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException;
}
