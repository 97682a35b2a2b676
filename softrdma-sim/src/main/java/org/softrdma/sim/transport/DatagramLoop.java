package org.softrdma.sim.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.DatagramChannel;

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

    /** Bytes of a packet of the network at an address of this host, with the header of IP; 0 if it is unknown. */
    default int networkUnit(InetAddress local) {
        try {
            // Of 127.0.0.0/8 the interface has one address, but all are there.
            InetAddress known = local.isLoopbackAddress() ? InetAddress.getLoopbackAddress() : local;
            NetworkInterface network = NetworkInterface.getByInetAddress(known);
            return network == null ? 0 : network.getMTU();
        } catch (SocketException e) {
            return 0;
        }
    }

    /**
     * The address of this host from which datagrams to a peer go.
     *
     * @param remote the peer
     * @throws IOException if there is no route to it
     */
    default InetAddress localTo(InetSocketAddress remote) throws IOException {
        try (DatagramChannel probe = DatagramChannel.open()) {
            return ((InetSocketAddress) probe.connect(remote).getLocalAddress()).getAddress(); // sends nothing
        }
    }
}
