package org.softrdma.net.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.softrdma.net.kernel.UdpSocket;

/** Edge-triggered epoll with calls by raw address: no allocation and no Netty buffers on the data path. */
final class EpollEventLoop extends LinuxEventLoop {
    private static final EpollIoOps INPUT =
            EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLRDHUP).with(EpollIoOps.EPOLLET);
    /** Only while a socket is full: otherwise each request of a peer would also report room to send. */
    private static final EpollIoOps INPUT_AND_ROOM = INPUT.with(EpollIoOps.EPOLLOUT);

    /** Always reported (epoll_ctl(2)); NONE would remove the socket from the epoll set for good. */
    private static final EpollIoOps NO_INPUT = EpollIoOps.EPOLLERR;

    EpollEventLoop(IoEventLoop loop, SocketOptions options, OpenSockets sockets) {
        super(loop, options, sockets);
    }

    @Override
    StreamSocket watch(Socket socket, SocketEvents events, SocketAddress remote, boolean connecting)
            throws IOException {
        EpollSocket handle = new EpollSocket(this, socket, events, remote);
        try {
            handle.registered(register(handle));
            handle.rearm();
        } catch (IOException | RuntimeException | Error e) {
            handle.close();
            throw e;
        }
        return handle;
    }

    @Override
    Acceptor watch(Socket socket, SocketAddress local, Consumer<PendingSocket> accepted) throws IOException {
        return new EpollAcceptor(this, socket, local, accepted);
    }

    @Override
    DatagramSocket watch(Socket socket, UdpSocket udp, SocketEvents events) throws IOException {
        EpollDatagramSocket handle = new EpollDatagramSocket(this, socket, udp, events);
        try {
            handle.registered(register(handle));
            handle.rearm();
        } catch (IOException | RuntimeException | Error e) {
            handle.close();
            throw e;
        }
        return handle;
    }

    @Override
    public Cancellable watch(int descriptor, Runnable readable) throws IOException {
        Watched handle = new Watched(new FileDescriptor(descriptor), careful(readable));
        IoRegistration registration = register(handle);
        registration.submit(EpollIoOps.EPOLLIN);
        return registration::cancel;
    }

    /** A descriptor of somebody else's: level-triggered, because only its owner knows when it has been read empty. */
    private record Watched(FileDescriptor fd, Runnable readable) implements EpollIoHandle {
        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            readable.run();
        }

        @Override
        public void close() {
            // Its owner does that.
        }
    }

    private static final class EpollSocket extends LinuxSocket
            implements EpollIoHandle, EnduringIoHandler.EdgeTriggered {
        private boolean awaitingRoom;
        private boolean hungUp;

        EpollSocket(EpollEventLoop loop, Socket socket, SocketEvents events, SocketAddress remote) {
            super(loop, socket, events, remote);
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
        public boolean hasMore() {
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
    }

    private static final class EpollDatagramSocket extends LinuxDatagramSocket
            implements EpollIoHandle, EnduringIoHandler.EdgeTriggered {
        private boolean awaitingRoom;

        EpollDatagramSocket(EpollEventLoop loop, Socket socket, UdpSocket udp, SocketEvents events) {
            super(loop, socket, udp, events);
        }

        @Override
        public FileDescriptor fd() {
            return socket;
        }

        @Override
        boolean take(IoRegistration registered, IoEvent event) {
            boolean room = hasRoom(event);
            if (room && awaitingRoom) {
                awaitingRoom = false;
                registered.submit(INPUT);
            }
            return room;
        }

        /** Netty makes an object for events that are rare. Without memory for it, all that was asked for has come. */
        private static boolean hasRoom(IoEvent event) {
            try {
                return ((EpollIoEvent) event).ops().contains(EpollIoOps.EPOLLOUT);
            } catch (OutOfMemoryError e) {
                return true;
            }
        }

        @Override
        public void rearm() {
            awaitingRoom = true;
            submit(INPUT_AND_ROOM);
        }

        @Override
        public void awaitRoom() {
            if (!awaitingRoom) {
                rearm();
            }
        }
    }

    private static final class EpollAcceptor extends LinuxAcceptor implements EpollIoHandle {
        EpollAcceptor(EpollEventLoop loop, Socket socket, SocketAddress local, Consumer<PendingSocket> accepted)
                throws IOException {
            super(loop, socket, local, accepted, NO_INPUT, EpollIoOps.EPOLLIN);
        }

        @Override
        public FileDescriptor fd() {
            return socket;
        }

        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            acceptAll();
        }
    }
}
