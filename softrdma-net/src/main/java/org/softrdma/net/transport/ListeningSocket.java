package org.softrdma.net.transport;

import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;

/**
 * A socket of the family of the address that it will listen on. Netty's own are of IPv6 wherever there is IPv6, and
 * {@code 0.0.0.0} means all addresses of both families to them. Any thread.
 */
final class ListeningSocket extends Socket {
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_V6ONLY = 26;

    private ListeningSocket(int descriptor) {
        super(descriptor);
    }

    /**
     * Opens one.
     *
     * @param local that it will be bound to
     * @param ipv6Only {@code ::} takes no IPv4
     */
    static Socket open(InetAddress local, boolean ipv6Only) throws IOException {
        boolean ipv6 = local instanceof Inet6Address;
        Socket socket =
                new ListeningSocket(newSocketStream0(ipv6 ? SocketProtocolFamily.INET6 : SocketProtocolFamily.INET));
        if (ipv6 && ipv6Only) {
            try {
                socket.setIntOpt(IPPROTO_IPV6, IPV6_V6ONLY, 1);
            } catch (IOException e) {
                socket.close();
                throw e;
            }
        }
        return socket;
    }
}
