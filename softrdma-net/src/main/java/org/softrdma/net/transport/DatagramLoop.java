package org.softrdma.net.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.DatagramChannel;
import java.util.List;

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

    /**
     * Opens a socket for what comes to a multicast group; others may have the same. Nothing is sent by it. On the loop.
     *
     * @param group its address, and the port
     * @param locals addresses of this host by whose interfaces it comes, of the same family, at least one
     * @param events told of readiness
     * @throws IOException if none of the interfaces can, or this transport has no groups
     */
    default DatagramSocket join(InetSocketAddress group, List<InetAddress> locals, SocketEvents events)
            throws IOException {
        throw new IOException("this transport has no multicast groups");
    }

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
