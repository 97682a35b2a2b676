package org.softrdma.net.transport;

import io.netty.channel.ChannelException;
import io.netty.channel.IoEventLoop;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.UdpSocket;

/** Opens, tunes and closes sockets of Linux for the loops that make system calls by raw address. */
abstract class LinuxEventLoop extends NettyEventLoop implements DatagramLoop {
    private static final Logger LOG = LoggerFactory.getLogger(LinuxEventLoop.class);
    private static final SocketOpener<Socket> STREAM = Socket::newSocketStream;
    private static final String END_OF_ERRNO = "): ";

    private final HostWatch hostWatch = new HostWatch();
    private @Nullable DatagramMessages messages;

    LinuxEventLoop(IoEventLoop loop, SocketOptions options, OpenSockets sockets) {
        super(loop, options, sockets);
    }

    /** Drives a connection; if that fails, the caller closes the socket. */
    abstract StreamSocket watch(Socket socket, SocketEvents events, SocketAddress remote, boolean connecting)
            throws IOException;

    /** Drives a listening socket; if that fails, the caller closes it. */
    abstract Acceptor watch(Socket socket, SocketAddress local, Consumer<PendingSocket> accepted) throws IOException;

    /** Drives a socket for datagrams; if that fails, the caller closes the socket. */
    abstract DatagramSocket watch(Socket socket, UdpSocket udp, SocketEvents events) throws IOException;

    @Override
    public final StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
        Socket socket = opened(STREAM);
        try {
            tune(socket);
            socket.connect(remote);
            return watch(socket, events, remote, true);
        } catch (ConnectException e) {
            closeQuietly(socket);
            throw withoutErrno(e);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    @Override
    public final Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
            throws IOException {
        return listenOn(local, backlog, accepted);
    }

    @Override
    public final Acceptor listen(UnixDomainSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
            throws IOException {
        return listenOn(local, backlog, accepted);
    }

    private Acceptor listenOn(SocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException {
        ListeningSocket socket = opened(() -> ListeningSocket.open(local, options.ipv6Only()));
        try {
            return watch(socket, socket.listen(local, backlog), accepted);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    @Override
    public final DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
        UdpSocket udp = UdpSocket.open(local.getAddress() instanceof Inet6Address);
        Socket socket = counted(udp);
        try {
            udp.tune();
            udp.askReceiveBuffer(options.datagramReceiveBuffer());
            if (options.sendBuffer() > 0) {
                udp.askSendBuffer(options.sendBuffer());
            }
            bind(udp, local);
            if (!local.getAddress().isAnyLocalAddress()) {
                udp.sendToGroupsBy(local.getAddress(), interfaceOf(local.getAddress()));
            }
            return watch(socket, udp, events);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    /** Its index; 0, which is the kernel's choice, where it is not known or not needed. */
    private static int interfaceOf(InetAddress local) throws SocketException {
        NetworkInterface found = local instanceof Inet6Address ? NetworkInterface.getByInetAddress(local) : null;
        return found == null ? 0 : found.getIndex();
    }

    @Override
    public final DatagramSocket join(InetSocketAddress group, List<InetAddress> locals, SocketEvents events)
            throws IOException {
        UdpSocket udp = UdpSocket.open(group.getAddress() instanceof Inet6Address);
        Socket socket = counted(udp);
        try {
            udp.tune();
            udp.share();
            udp.askReceiveBuffer(options.datagramReceiveBuffer());
            bind(udp, group);
            boolean joined = false;
            for (InetAddress local : locals) {
                joined |= udp.join(group.getAddress(), local, interfaceOf(local));
            }
            if (!joined) {
                throw new IOException("no interface of " + locals + " can take what comes to " + group.getAddress());
            }
            return watch(socket, udp, events);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    private static void bind(UdpSocket udp, InetSocketAddress local) throws IOException {
        PeerAddress own = PeerAddress.of(local);
        try {
            udp.bind(own.high(), own.low(), own.port(), own.scope());
        } catch (SystemCallException e) {
            throw ListenException.ofErrno(e.errno(), local, e);
        }
    }

    /** Made by the first socket for datagrams. */
    final DatagramMessages messages() {
        DatagramMessages made = messages == null ? new DatagramMessages() : messages;
        messages = made;
        return made;
    }

    @Override
    public final StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
        Pending adopted = (Pending) pending;
        Socket socket = adopted.socket;
        boolean open = socket.isOpen();
        if (!open) { // discarded meanwhile; its descriptor's number may be another connection's by now
            throw new ClosedChannelException();
        }
        try {
            if (adopted.unix) {
                setBuffers(socket);
                return watch(socket, events, LinuxSocket.named(socket.remoteDomainSocketAddress()), false);
            }
            tune(socket);
            InetSocketAddress remote = socket.remoteAddress();
            return watch(socket, events, remote == null ? new InetSocketAddress(0) : remote, false);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    /**
     * Netty says {@code finishConnect(..) failed with error(-111): Connection refused}; users need only the end of it,
     * as in java.nio.
     */
    static ConnectException withoutErrno(ConnectException e) {
        String message = String.valueOf(e.getMessage());
        int at = message.lastIndexOf(END_OF_ERRNO);
        ConnectException plain = new ConnectException(at < 0 ? message : message.substring(at + END_OF_ERRNO.length()));
        plain.initCause(e);
        return plain;
    }

    private void tune(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        setBuffers(socket);
        if (options.keepAlive()) {
            socket.setKeepAlive(true);
        }
        if (options.hostTimeoutMs() > 0) {
            HostWatch.tune(socket, options);
        }
    }

    private void setBuffers(Socket socket) throws IOException {
        if (options.sendBuffer() > 0) {
            socket.setSendBufferSize(options.sendBuffer());
        }
        if (options.receiveBuffer() > 0) {
            socket.setReceiveBufferSize(options.receiveBuffer());
        }
    }

    final boolean isHostSilent(Socket socket) {
        return options.hostTimeoutMs() > 0 && hostWatch.isSilent(socket, options.hostTimeoutMs());
    }

    private interface SocketOpener<S extends Socket> {
        S open() throws IOException;
    }

    /** Netty says by an exception of its own that there is no socket, and leaves new ones open for programs that are started. */
    private <S extends Socket> S opened(SocketOpener<S> opener) throws IOException {
        S socket;
        try {
            socket = opener.open();
        } catch (ChannelException e) {
            throw e.getCause() instanceof IOException reason ? reason : new IOException(e.getMessage(), e);
        }
        Descriptor.closeOnExec(socket.intValue());
        return counted(socket);
    }

    private Socket counted(UdpSocket udp) {
        try {
            return counted(new Socket(udp.descriptor()));
        } catch (Error e) {
            Descriptor.close(udp.descriptor());
            throw e;
        }
    }

    private <S extends Socket> S counted(S socket) {
        sockets.opened();
        return socket;
    }

    /** A connection that was accepted. */
    final PendingSocket pending(int descriptor, boolean unix) {
        Pending pending = new Pending(new Socket(descriptor), unix);
        sockets.opened(); // last: if there is no memory, the caller closes the descriptor
        return pending;
    }

    private final class Pending implements PendingSocket {
        private final Socket socket;
        private final boolean unix;

        Pending(Socket socket, boolean unix) {
            this.socket = socket;
            this.unix = unix;
        }

        @Override
        public void discard() {
            closeQuietly(socket);
        }
    }

    /** A socket may be closed twice, by callers that do not know of each other; it counts once. */
    final void closeQuietly(Socket socket) {
        if (!socket.isOpen()) {
            return;
        }
        sockets.closed();
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("cannot close {}", socket, e);
        }
    }
}
