package org.softrdma.net.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.memory.NativeMemory;

/** The portable loop: channels of java.nio, and buffers that are created over raw memory for each call. */
final class NioEventLoop extends NettyEventLoop implements DatagramLoop {
    private static final Logger LOG = LoggerFactory.getLogger(NioEventLoop.class);

    /** Not every system has them. */
    private static final Set<SocketOption<Integer>> KEEP_ALIVE = Set.of(
            ExtendedSocketOptions.TCP_KEEPIDLE,
            ExtendedSocketOptions.TCP_KEEPINTERVAL,
            ExtendedSocketOptions.TCP_KEEPCOUNT);

    /** The loop's own next select reports ready channels again. A constant, which is linked when there is memory. */
    @SuppressWarnings("UnnecessaryLambda")
    private static final Consumer<SelectionKey> LATER = key -> {};

    NioEventLoop(IoEventLoop loop, SocketOptions options, OpenSockets sockets) {
        super(loop, options, sockets);
    }

    @Override
    public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
        SocketChannel channel = counted(SocketChannel.open());
        try {
            channel.configureBlocking(false);
            tune(channel);
            boolean connected = channel.connect(remote);
            return watch(channel, events, remote, connected ? NioIoOps.READ_AND_WRITE : NioIoOps.CONNECT);
        } catch (Throwable e) {
            closeQuietly(channel);
            throw e;
        }
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException {
        return listenOn(local, familyOf(local), backlog, accepted);
    }

    @Override
    public Acceptor listen(UnixDomainSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
            throws IOException {
        return listenOn(local, StandardProtocolFamily.UNIX, backlog, accepted);
    }

    private Acceptor listenOn(SocketAddress local, ProtocolFamily family, int backlog, Consumer<PendingSocket> accepted)
            throws IOException {
        ServerSocketChannel channel = counted(ServerSocketChannel.open(family));
        try {
            channel.configureBlocking(false);
            if (family != StandardProtocolFamily.UNIX) {
                channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            }
            try {
                channel.bind(local, backlog);
            } catch (IOException e) {
                throw ListenException.ofCause(e, local);
            }
            return new NioAcceptor(channel, accepted);
        } catch (Throwable e) {
            closeQuietly(channel);
            throw e;
        }
    }

    @Override
    public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
        DatagramChannel channel = counted(DatagramChannel.open(familyOf(local)));
        try {
            channel.configureBlocking(false);
            if (channel.supportedOptions().contains(ExtendedSocketOptions.IP_DONTFRAGMENT)) {
                channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            }
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.datagramReceiveBuffer());
            if (options.sendBuffer() > 0) {
                channel.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBuffer());
            }
            try {
                channel.bind(local);
            } catch (IOException e) {
                throw ListenException.ofCause(e, local);
            }
            NioDatagramSocket handle = new NioDatagramSocket(channel, events);
            IoRegistration registration = register(handle);
            handle.registered(registration);
            handle.key = registration.attachment();
            registration.submit(NioIoOps.READ);
            return handle;
        } catch (Throwable e) {
            closeQuietly(channel);
            throw e;
        }
    }

    @Override
    public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
        SocketChannel channel = ((Pending) pending).channel;
        try {
            channel.configureBlocking(false);
            SocketAddress remote = channel.getRemoteAddress();
            if (remote instanceof InetSocketAddress) {
                tune(channel);
            } else {
                setBuffers(channel);
            }
            return watch(channel, events, remote, NioIoOps.READ_AND_WRITE);
        } catch (Throwable e) {
            closeQuietly(channel);
            throw e;
        }
    }

    private void tune(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        setBuffers(channel);
        if (options.keepAlive()) {
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        }
        if (options.hostTimeoutMs() > 0) {
            keepAlive(channel);
        }
    }

    private void setBuffers(SocketChannel channel) throws IOException {
        if (options.sendBuffer() > 0) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBuffer());
        }
        if (options.receiveBuffer() > 0) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBuffer());
        }
    }

    /** Ends an idle connection to a silent host; for bytes in flight java.nio has no limit (docs/reference/wire.md). */
    private void keepAlive(SocketChannel channel) throws IOException {
        if (channel.supportedOptions().containsAll(KEEP_ALIVE)) {
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, options.keepAliveSeconds());
            channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, options.keepAliveSeconds());
            channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, options.keepAliveQuestions());
        }
    }

    private static StandardProtocolFamily familyOf(InetSocketAddress local) {
        return local.getAddress() instanceof Inet6Address ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET;
    }

    private <C extends SelectableChannel> C counted(C channel) {
        sockets.opened();
        return channel;
    }

    private StreamSocket watch(SocketChannel channel, SocketEvents events, SocketAddress remote, NioIoOps ops)
            throws IOException {
        NioSocket handle = new NioSocket(channel, events, remote);
        try {
            IoRegistration registration = register(handle);
            handle.registered(registration);
            registration.submit(ops);
        } catch (IOException | RuntimeException | Error e) {
            handle.close();
            throw e;
        }
        return handle;
    }

    private final class Pending implements PendingSocket {
        private final SocketChannel channel;

        Pending(SocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public @Nullable SocketAddress remoteAddress() {
            try {
                return channel.getRemoteAddress();
            } catch (IOException e) {
                LOG.debug("cannot read the remote address of {}", channel, e);
                return null;
            }
        }

        @Override
        public void discard() {
            closeQuietly(channel);
        }
    }

    /** A socket may be closed twice, by callers that do not know of each other; it counts once. */
    private void closeQuietly(SelectableChannel channel) {
        if (!channel.isOpen()) {
            return;
        }
        sockets.closed();
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("cannot close {}", channel, e);
        }
    }

    /** Frees the port: the descriptor of a registered channel lives on until its selector selects again. */
    private static void releasePort(Selector selector) {
        try {
            int ignored = selector.selectNow(LATER);
        } catch (IOException e) {
            LOG.debug("cannot close a channel before its selector selects again", e);
        }
    }

    private static ByteBuffer buffer(long address, long length) {
        return NativeMemory.segment(address, length).asByteBuffer();
    }

    private final class NioSocket extends RegisteredStream implements NioIoHandle {
        private final SocketChannel channel;
        private boolean paused;
        private boolean awaitingRoom;

        NioSocket(SocketChannel channel, SocketEvents events, SocketAddress remote) {
            super(events, remote);
            this.channel = channel;
        }

        @Override
        public SelectableChannel selectableChannel() {
            return channel;
        }

        @Override
        boolean take(IoRegistration registered, IoEvent event) {
            NioIoOps ops = ((NioIoEvent) event).ops();
            if (ops.contains(NioIoOps.WRITE)) {
                awaitingRoom = false;
                registered.submit(wanted());
            }
            return ops.contains(NioIoOps.WRITE) || ops.contains(NioIoOps.CONNECT);
        }

        @Override
        public int receive(long address, int length) throws IOException {
            try {
                return channel.read(buffer(address, length));
            } catch (IOException e) {
                throw HostSilentException.ofMessage(e);
            }
        }

        @Override
        public int scatter(IoVectors vectors, int count) throws IOException {
            try {
                return Math.toIntExact(channel.read(buffers(vectors, 0, count)));
            } catch (IOException e) {
                throw HostSilentException.ofMessage(e);
            }
        }

        @Override
        public long gather(IoVectors vectors, int from, int count) throws IOException {
            try {
                return channel.write(buffers(vectors, from, count));
            } catch (IOException e) {
                throw HostSilentException.ofMessage(e);
            }
        }

        private ByteBuffer[] buffers(IoVectors vectors, int from, int count) {
            ByteBuffer[] buffers = new ByteBuffer[count];
            for (int i = 0; i < count; i++) {
                buffers[i] = buffer(vectors.base(from + i), vectors.length(from + i));
            }
            return buffers;
        }

        private NioIoOps wanted() {
            if (paused) {
                return awaitingRoom ? NioIoOps.WRITE : NioIoOps.NONE;
            }
            return awaitingRoom ? NioIoOps.READ_AND_WRITE : NioIoOps.READ;
        }

        @Override
        public void awaitRoom() {
            awaitingRoom = true;
            submit(wanted());
        }

        @Override
        public void rearm() {
            paused = false;
            awaitRoom();
        }

        @Override
        public void pause() {
            // A selector is level triggered: it would raise this for ever.
            paused = true;
            submit(wanted());
        }

        @Override
        public boolean isHostSilent() {
            return false; // java.nio does not show what the kernel knows
        }

        @Override
        public boolean hasMore() {
            // A selector is level triggered: it raises the event again.
            return false;
        }

        @Override
        public boolean finishConnect() throws IOException {
            boolean connected = channel.finishConnect();
            if (connected) {
                submit(wanted());
            }
            return connected;
        }

        @Override
        public SocketAddress localAddress() {
            try {
                return channel.getLocalAddress();
            } catch (IOException e) {
                LOG.debug("cannot read the local address of {}", channel, e);
                return new InetSocketAddress(0);
            }
        }

        @Override
        public void shutdownOutput() {
            try {
                channel.shutdownOutput();
            } catch (IOException e) {
                LOG.debug("cannot shut down the output of {}", channel, e);
            }
        }

        @Override
        void resetOnClose() throws IOException {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }

        @Override
        void closeDescriptor() {
            closeQuietly(channel);
        }
    }

    /**
     * Single datagrams by java.nio, which allocates for each, and shows neither the type of service nor what was dropped. From
     * senders that leave UDP's checksum out, as those of RoCE do, it receives over IPv4 only.
     */
    private final class NioDatagramSocket extends RegisteredDatagramSocket implements NioIoHandle {
        private final DatagramChannel channel;
        private final InetSocketAddress local;
        /** java.nio does not say how long a datagram was for which the buffer was too short. */
        private final ByteBuffer arrived = ByteBuffer.allocateDirect(MAX_TRAIN_BYTES + Short.BYTES);

        private final long arrivedAddress = MemorySegment.ofBuffer(arrived).address();
        private @Nullable SelectionKey key;
        private boolean awaitingRoom;
        private long refused;
        private long trainsCut;

        NioDatagramSocket(DatagramChannel channel, SocketEvents events) throws IOException {
            super(events);
            this.channel = channel;
            local = (InetSocketAddress) channel.getLocalAddress();
        }

        @Override
        public SelectableChannel selectableChannel() {
            return channel;
        }

        @Override
        public int maxBytes() {
            return MAX_TRAIN_BYTES;
        }

        @Override
        public int maxSegments() {
            return 1;
        }

        @Override
        public InetSocketAddress localAddress() {
            return local;
        }

        @Override
        public int send(DatagramBatch batch, int from, int count) throws IOException {
            checkOpen();
            batch.check(from, count, maxBytes(), local.getAddress() instanceof Inet6Address);
            int sent = 0;
            while (sent < count && send(batch, from + sent)) {
                sent++;
            }
            return sent;
        }

        /** Sends one entry, a train as single datagrams; false if there is no room for any of them. */
        private boolean send(DatagramBatch batch, int index) throws IOException {
            InetSocketAddress peer = batch.peer(index).toSocketAddress();
            int length = batch.length(index);
            int segment = batch.segment(index);
            trainsCut += batch.isTrain(index) ? 1 : 0;
            int at = 0;
            do {
                int here = Math.min(segment, length - at);
                if (!send(batch.address(index) + at, here, peer)) {
                    if (at == 0) {
                        return false;
                    }
                    refused++; // a train that has begun is not kept
                }
                at += Math.max(1, here);
            } while (at < length);
            return true;
        }

        private boolean send(long address, int length, InetSocketAddress peer) throws IOException {
            try {
                return channel.send(buffer(address, length), peer) > 0 || length == 0;
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                LOG.trace("a datagram to {} was refused", peer, e);
                refused++;
                return true;
            }
        }

        @Override
        public int receive(DatagramBatch batch) throws IOException {
            checkOpen();
            int count = 0;
            while (count < batch.size()) {
                InetSocketAddress peer = (InetSocketAddress) channel.receive(arrived.clear());
                if (peer == null) {
                    return count;
                }
                int length = arrived.position();
                NativeMemory.copy(arrivedAddress, batch.address(count), Math.min(length, batch.room(count)));
                batch.received(count, length, length, 0).set(peer);
                count++;
            }
            return count;
        }

        private void checkOpen() throws IOException {
            if (isClosed()) {
                throw new ClosedChannelException();
            }
        }

        @Override
        public int receiveBuffer() {
            try {
                return channel.getOption(StandardSocketOptions.SO_RCVBUF);
            } catch (IOException e) {
                LOG.debug("cannot read SO_RCVBUF of {}", channel, e);
                return 0;
            }
        }

        @Override
        public long dropped() {
            return 0; // java.nio does not show what the kernel knows
        }

        @Override
        public long refused() {
            return refused;
        }

        @Override
        public long trainsCut() {
            return trainsCut;
        }

        @Override
        boolean take(IoRegistration registered, IoEvent event) {
            boolean room = ((NioIoEvent) event).ops().contains(NioIoOps.WRITE);
            if (room) {
                awaitingRoom = false;
                registered.submit(NioIoOps.READ);
            }
            return room;
        }

        @Override
        public void awaitRoom() {
            if (!awaitingRoom) {
                awaitingRoom = true;
                submit(NioIoOps.READ_AND_WRITE);
            }
        }

        @Override
        public void rearm() {
            // A selector is level triggered: it raises the event again.
        }

        @Override
        void closeDescriptor() {
            closeQuietly(channel);
            if (key != null) {
                releasePort(key.selector());
            }
        }
    }

    private final class NioAcceptor implements NioIoHandle, Acceptor {
        private final ServerSocketChannel channel;
        private final Consumer<PendingSocket> accepted;
        private final SocketAddress local;
        private final IoRegistration registration;
        private final AcceptPause pause;
        private boolean closed;

        NioAcceptor(ServerSocketChannel channel, Consumer<PendingSocket> accepted) throws IOException {
            this.channel = channel;
            this.accepted = accepted;
            local = channel.getLocalAddress();
            registration = register(this);
            registration.submit(NioIoOps.ACCEPT);
            pause = new AcceptPause(NioEventLoop.this, local, registration, NioIoOps.NONE, NioIoOps.ACCEPT);
        }

        @Override
        public SelectableChannel selectableChannel() {
            return channel;
        }

        @Override
        public void handle(IoRegistration registered, IoEvent event) {
            try {
                for (SocketChannel next = channel.accept(); next != null; next = channel.accept()) {
                    LoopGuard.hand(accepted, pending(next));
                }
                pause.succeeded();
            } catch (IOException | RuntimeException | Error e) {
                pause.failed(e);
            }
        }

        private Pending pending(SocketChannel channel) {
            sockets.opened();
            try {
                return new Pending(channel);
            } catch (Error e) {
                closeQuietly(channel);
                throw e;
            }
        }

        @Override
        public SocketAddress localAddress() {
            return local;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                SelectionKey key = registration.attachment();
                registration.cancel();
                closeQuietly(channel);
                releasePort(key.selector());
            }
        }
    }
}
