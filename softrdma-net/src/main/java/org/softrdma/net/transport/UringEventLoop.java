package org.softrdma.net.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.softrdma.net.kernel.UdpSocket;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.uring.RingPort;

/**
 * io_uring ({@code net.uring}): receives ahead and sends later by the ring; what cannot wait, and what goes straight into
 * registered memory, by plain calls.
 */
final class UringEventLoop extends LinuxEventLoop {
    private final BufferOperations memory = new BufferOperations();

    UringEventLoop(IoEventLoop loop, SocketOptions options, OpenSockets sockets) {
        super(loop, options, sockets);
    }

    @Override
    StreamSocket watch(Socket socket, SocketEvents events, SocketAddress remote, boolean connecting)
            throws IOException {
        UringSocket handle = new UringSocket(this, socket, events, remote);
        try {
            IoRegistration registration = register(handle);
            handle.registered(registration);
            handle.begin(registration.attachment(), connecting);
        } catch (IOException | RuntimeException | Error e) {
            handle.close(); // the port first: a request that is armed would keep the connection open
            throw e;
        }
        return handle;
    }

    @Override
    Acceptor watch(Socket socket, SocketAddress local, Consumer<PendingSocket> accepted) throws IOException {
        return new UringAcceptor(this, socket, local, accepted);
    }

    @Override
    DatagramSocket watch(Socket socket, UdpSocket udp, SocketEvents events) throws IOException {
        UringDatagramSocket handle = new UringDatagramSocket(this, socket, udp, events);
        IoRegistration registration = register(handle);
        handle.registered(registration);
        handle.begin(registration.attachment());
        return handle;
    }

    private static final class UringSocket extends LinuxSocket implements UringHandle {
        private final BufferOperations memory;
        private RingPort port;

        @SuppressWarnings("NullAway.Init") // begin() follows at once
        UringSocket(UringEventLoop loop, Socket socket, SocketEvents events, SocketAddress remote) {
            super(loop, socket, events, remote);
            memory = loop.memory;
        }

        void begin(RingPort registered, boolean connecting) {
            port = registered;
            if (connecting) {
                port.awaitRoom();
            } else {
                port.rearm();
            }
        }

        @Override
        public int descriptor() {
            return socket.intValue();
        }

        @Override
        public void ready(boolean writable) {
            tellReady(writable);
        }

        @Override
        public void sent() {
            tellSent();
        }

        @Override
        boolean take(IoRegistration registered, IoEvent event) {
            throw new IllegalStateException("events come from the port");
        }

        // ---- receiving

        @Override
        public void receiveAhead(boolean wanted) {
            if (!isClosed()) {
                port.receiveAhead(wanted);
            }
        }

        @Override
        public boolean hasAhead() {
            return !isClosed() && port.hasAhead();
        }

        @Override
        public int lend() {
            return isClosed() ? 0 : port.lend();
        }

        @Override
        public long lentAddress() {
            return port.lentAddress();
        }

        @Override
        public int receive(long address, int length) throws IOException {
            checkOpen();
            int ahead = port.copyAhead(memory, address, length);
            if (ahead > 0) {
                return ahead;
            }
            if (isOver()) {
                return END_OF_STREAM;
            }
            return port.isReceivingAhead() ? 0 : found(super.receive(address, length), length);
        }

        @Override
        public int scatter(IoVectors vectors, int count) throws IOException {
            checkOpen();
            int ahead = 0;
            for (int i = 0; i < count && port.hasAhead(); i++) {
                ahead += port.copyAhead(memory, vectors.base(i), vectors.length(i));
            }
            if (ahead > 0) {
                return ahead;
            }
            if (isOver()) {
                return END_OF_STREAM;
            }
            return port.isReceivingAhead() ? 0 : found(super.scatter(vectors, count), vectors.total(count));
        }

        /** Only what the kernel itself says tells that it has no more. */
        private int found(int received, long wanted) {
            if (received < wanted) {
                port.foundEmpty();
            }
            return received;
        }

        /** True if the stream has ended, as the ring knows; a poll does not know. */
        private boolean isOver() throws IOException {
            if (port.error() != 0) {
                throw failure("receive", port.error());
            }
            return port.isEnded();
        }

        private static IOException failure(String call, int errno) {
            return HostSilentException.ofErrno(errno, Errors.newIOException(call, -errno));
        }

        @Override
        public boolean hasMore() {
            return !isClosed() && port.hasMore();
        }

        // ---- sending

        @Override
        public boolean gatherLater(IoVectors vectors, int count) {
            return !isClosed() && port.gatherLater(vectors.entry(0), count);
        }

        @Override
        public long gathered() throws IOException {
            int sent = port.gathered();
            if (sent < 0) {
                throw failure("send", -sent);
            }
            return sent;
        }

        @Override
        public long gather(IoVectors vectors, int from, int count) throws IOException {
            checkOpen();
            port.settle();
            return super.gather(vectors, from, count);
        }

        @Override
        public void shutdownOutput() {
            if (!isClosed()) {
                port.settle();
                super.shutdownOutput();
            }
        }

        // ---- events

        @Override
        public void rearm() {
            if (!isClosed()) {
                port.rearm();
            }
        }

        @Override
        public void awaitRoom() {
            if (!isClosed()) {
                port.awaitRoom();
            }
        }

        @Override
        public void pause() {
            if (!isClosed()) {
                port.pause();
            }
        }
    }

    /** Events by the ring, datagrams by plain calls: they are many a call. */
    private static final class UringDatagramSocket extends LinuxDatagramSocket implements UringHandle {
        private RingPort port;

        @SuppressWarnings("NullAway.Init") // begin() follows at once
        UringDatagramSocket(UringEventLoop loop, Socket socket, UdpSocket udp, SocketEvents events) {
            super(loop, socket, udp, events);
        }

        void begin(RingPort registered) {
            port = registered;
            port.rearm();
        }

        @Override
        public int descriptor() {
            return socket.intValue();
        }

        @Override
        public void ready(boolean writable) {
            tellReady(writable);
        }

        @Override
        public void sent() {
            // It sends nothing by the ring.
        }

        @Override
        boolean take(IoRegistration registered, IoEvent event) {
            throw new IllegalStateException("events come from the port");
        }

        @Override
        public void rearm() {
            if (!isClosed()) {
                port.rearm();
            }
        }

        @Override
        public void awaitRoom() {
            if (!isClosed()) {
                port.awaitRoom();
            }
        }
    }

    private static final class UringAcceptor extends LinuxAcceptor implements UringHandle {
        UringAcceptor(UringEventLoop loop, Socket socket, SocketAddress local, Consumer<PendingSocket> accepted)
                throws IOException {
            super(loop, socket, local, accepted, Wanted.NONE, Wanted.INPUT);
        }

        @Override
        public int descriptor() {
            return socket.intValue();
        }

        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            throw new IllegalStateException("events come from the port");
        }

        @Override
        public void ready(boolean writable) {
            acceptAll();
        }

        @Override
        public void sent() {
            // It sends nothing.
        }
    }
}
