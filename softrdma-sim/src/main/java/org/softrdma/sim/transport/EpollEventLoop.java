package org.softrdma.sim.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Edge-triggered epoll with calls by raw address: no allocation and no Netty buffers on the data path. */
final class EpollEventLoop extends NettyEventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(EpollEventLoop.class);
    private static final EpollIoOps INPUT =
            EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLRDHUP).with(EpollIoOps.EPOLLET);
    /** Only while a socket is full: otherwise each request of a peer would also report room to send. */
    private static final EpollIoOps INPUT_AND_ROOM = INPUT.with(EpollIoOps.EPOLLOUT);

    /** Always reported (epoll_ctl(2)); NONE would remove the socket from the epoll set for good. */
    private static final EpollIoOps NO_INPUT = EpollIoOps.EPOLLERR;

    private static final int SOCKADDR_BYTES = 128;
    private static final String END_OF_ERRNO = "): ";

    private final HostWatch hostWatch = new HostWatch();

    EpollEventLoop(IoEventLoop loop, SocketOptions options, OpenSockets sockets) {
        super(loop, options, sockets);
    }

    @Override
    public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
        Socket socket = counted(Socket.newSocketStream());
        try {
            tune(socket);
            socket.connect(remote);
            return watch(socket, events, remote);
        } catch (ConnectException e) {
            closeQuietly(socket);
            throw withoutErrno(e);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException {
        Socket socket = counted(Socket.newSocketStream());
        try {
            socket.setReuseAddress(true);
            socket.bind(local);
            socket.listen(backlog);
            return new EpollAcceptor(socket, accepted);
        } catch (Errors.NativeIoException e) {
            closeQuietly(socket);
            throw ListenException.ofErrno(-e.expectedErr(), local, e);
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    @Override
    public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
        Socket socket = ((Pending) pending).socket;
        try {
            tune(socket);
            return watch(socket, events, socket.remoteAddress());
        } catch (Throwable e) {
            closeQuietly(socket);
            throw e;
        }
    }

    /**
     * Netty says {@code finishConnect(..) failed with error(-111): Connection refused}; users need only the end of it,
     * as in java.nio.
     */
    private static ConnectException withoutErrno(ConnectException e) {
        String message = String.valueOf(e.getMessage());
        int at = message.lastIndexOf(END_OF_ERRNO);
        ConnectException plain = new ConnectException(at < 0 ? message : message.substring(at + END_OF_ERRNO.length()));
        plain.initCause(e);
        return plain;
    }

    private void tune(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        if (options.sendBuffer() > 0) {
            socket.setSendBufferSize(options.sendBuffer());
        }
        if (options.receiveBuffer() > 0) {
            socket.setReceiveBufferSize(options.receiveBuffer());
        }
        if (options.hostTimeoutMs() > 0) {
            HostWatch.tune(socket, options);
        }
    }

    private Socket counted(Socket socket) {
        sockets.opened();
        return socket;
    }

    private StreamSocket watch(Socket socket, SocketEvents events, @Nullable InetSocketAddress remote)
            throws IOException {
        EpollSocket handle = new EpollSocket(socket, events, remote == null ? new InetSocketAddress(0) : remote);
        try {
            handle.registered(register(handle));
            handle.rearm();
        } catch (IOException | RuntimeException | Error e) {
            handle.close();
            throw e;
        }
        return handle;
    }

    private final class Pending implements PendingSocket {
        private final Socket socket;

        Pending(Socket socket) {
            this.socket = socket;
        }

        @Override
        public void discard() {
            closeQuietly(socket);
        }
    }

    /** A socket may be closed twice, by callers that do not know of each other; it counts once. */
    private void closeQuietly(Socket socket) {
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

    private final class EpollSocket extends RegisteredSocket implements EpollIoHandle, EnduringIoHandler.EdgeTriggered {
        private final Socket socket;
        private boolean awaitingRoom;
        private boolean hungUp;

        EpollSocket(Socket socket, SocketEvents events, InetSocketAddress remote) {
            super(events, remote);
            this.socket = socket;
        }

        @Override
        public FileDescriptor fd() {
            return socket;
        }

        @Override
        boolean take(IoRegistration registered, IoEvent event) {
            EpollIoOps ops = ((EpollIoEvent) event).ops();
            boolean broken = ops.contains(EpollIoOps.EPOLLERR);
            boolean room = ops.contains(EpollIoOps.EPOLLOUT);
            hungUp |= broken || ops.contains(EpollIoOps.EPOLLRDHUP);
            if (room && awaitingRoom) {
                awaitingRoom = false;
                registered.submit(INPUT);
            }
            return room || broken;
        }

        @Override
        public int receive(long address, int length) throws IOException {
            checkOpen();
            try {
                return socket.recvAddress(address, 0, length);
            } catch (Errors.NativeIoException e) {
                throw HostSilentException.ofErrno(-e.expectedErr(), e);
            }
        }

        @Override
        public int scatter(IoVectors vectors, int count) throws IOException {
            checkOpen();
            return ReadVector.call(socket.intValue(), vectors.entry(0), count);
        }

        @Override
        public long gather(IoVectors vectors, int from, int count) throws IOException {
            checkOpen();
            try {
                if (count == 1) {
                    int length = Math.toIntExact(vectors.length(from));
                    return socket.sendAddress(vectors.base(from), 0, length);
                }
                return socket.writevAddresses(vectors.entry(from), count);
            } catch (Errors.NativeIoException e) {
                throw HostSilentException.ofErrno(-e.expectedErr(), e);
            }
        }

        @Override
        public boolean isHostSilent() {
            return !isClosed() && options.hostTimeoutMs() > 0 && hostWatch.isSilent(socket, options.hostTimeoutMs());
        }

        /** Refuses a closed socket: its descriptor's number may belong to another socket by now. */
        private void checkOpen() throws IOException {
            if (isClosed()) {
                throw new ClosedChannelException();
            }
        }

        @Override
        public boolean isHungUp() {
            return hungUp;
        }

        @Override
        public void rearm() {
            // Modifying an edge-triggered registration raises what is ready again (epoll_ctl(2), EPOLL_CTL_MOD).
            awaitingRoom = true;
            submit(INPUT_AND_ROOM);
        }

        @Override
        public void awaitRoom() {
            if (!awaitingRoom) {
                rearm();
            }
        }

        @Override
        public void pause() {
            // Edge triggered: raised once.
        }

        @Override
        public boolean finishConnect() throws IOException {
            checkOpen();
            boolean connected;
            try {
                connected = socket.finishConnect();
            } catch (ConnectException e) {
                throw withoutErrno(e);
            }
            if (!connected) {
                awaitRoom();
            }
            return connected;
        }

        @Override
        public InetSocketAddress localAddress() {
            return socket.localAddress();
        }

        @Override
        public void shutdownOutput() {
            if (isClosed()) {
                return;
            }
            try {
                socket.shutdown(false, true);
            } catch (IOException | NotYetConnectedException e) {
                // The second is Netty's form of ENOTCONN: the peer has reset the connection.
                LOG.debug("cannot shut down the output of {}", socket, e);
            }
        }

        @Override
        void resetOnClose() throws IOException {
            socket.setSoLinger(0);
        }

        @Override
        void closeDescriptor() {
            closeQuietly(socket);
        }
    }

    private final class EpollAcceptor implements EpollIoHandle, Acceptor {
        private final Socket socket;
        private final Consumer<PendingSocket> accepted;
        private final InetSocketAddress local;
        private final IoRegistration registration;
        private final AcceptPause pause;
        private boolean closed;

        EpollAcceptor(Socket socket, Consumer<PendingSocket> accepted) throws IOException {
            this.socket = socket;
            this.accepted = accepted;
            local = socket.localAddress();
            registration = register(this);
            registration.submit(EpollIoOps.EPOLLIN);
            pause = new AcceptPause(EpollEventLoop.this, local, registration, NO_INPUT, EpollIoOps.EPOLLIN);
        }

        @Override
        public FileDescriptor fd() {
            return socket;
        }

        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            try {
                byte[] address = new byte[SOCKADDR_BYTES];
                for (int fd = socket.accept(address); fd >= 0; fd = socket.accept(address)) {
                    LoopGuard.hand(accepted, new Pending(counted(new Socket(fd))));
                }
                pause.succeeded();
            } catch (IOException | RuntimeException | Error e) {
                pause.failed(e);
            }
        }

        @Override
        public InetSocketAddress localAddress() {
            return local;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                registration.cancel();
                closeQuietly(socket);
            }
        }
    }
}
