package org.softrdma.net.transport;

import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import org.softrdma.net.kernel.SocketFile;
import org.softrdma.net.kernel.SystemCallException;

/**
 * A socket of the family of the address that it will listen on. Netty's own are of IPv6 wherever there is IPv6, and
 * {@code 0.0.0.0} means all addresses of both families to them. Before Netty binds a Unix socket it deletes what is at the path,
 * be it another server's socket or a file that is none. Any thread.
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
    static ListeningSocket open(SocketAddress local, boolean ipv6Only) throws IOException {
        if (!(local instanceof InetSocketAddress tcp)) {
            return new ListeningSocket(newSocketDomain0());
        }
        boolean ipv6 = tcp.getAddress() instanceof Inet6Address;
        ListeningSocket socket =
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

    /**
     * Binds it and listens.
     *
     * @return where; {@code local}, but for port 0
     * @throws ListenException if the address cannot be used
     */
    SocketAddress listen(SocketAddress local, int backlog) throws IOException {
        try {
            if (local instanceof UnixDomainSocketAddress unix) {
                bind(unix);
                listen(backlog);
                return unix;
            }
            setReuseAddress(true);
            bind(local);
            listen(backlog);
            return localAddress();
        } catch (Errors.NativeIoException e) {
            throw ListenException.ofErrno(-e.expectedErr(), local, e);
        }
    }

    private void bind(UnixDomainSocketAddress local) throws IOException {
        try {
            SocketFile.bind(intValue(), local.getPath());
        } catch (SystemCallException e) {
            throw Errors.newIOException("bind", -e.errno()); // with the text of its errno
        } catch (IOException e) {
            throw ListenException.ofCause(e, local);
        }
    }
}
