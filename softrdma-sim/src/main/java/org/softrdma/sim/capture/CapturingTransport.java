package org.softrdma.sim.capture;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.DatagramLoop;
import org.softrdma.sim.transport.DatagramSocket;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.transport.Transport;
import org.softrdma.sim.transport.Waits;

/**
 * A transport that captures its connections in a file, each once ({@link CapturedConnections}), and its datagrams ({@link
 * CapturingDatagramSocket}). Rejected: a hook in the
 * sockets, which every receive and send would have to check.
 */
public final class CapturingTransport implements Transport {
    private final Transport transport;
    private final PcapngFile file;
    private final CapturedConnections connections;
    private final CapturedDatagramSockets datagramSockets = new CapturedDatagramSockets();
    private final List<EventLoop> loops;

    private CapturingTransport(Transport transport, PcapngFile file) {
        this.transport = transport;
        this.file = file;
        connections = new CapturedConnections(file);
        loops = transport.loops().stream()
                .map(loop -> (EventLoop) new CapturingLoop(this, loop))
                .toList();
    }

    /**
     * Captures the connections of a transport.
     *
     * @param transport closed with the result
     * @param path a file, created or appended to
     * @throws IOException if it cannot be written; the transport is left open
     */
    public static Transport of(Transport transport, Path path) throws IOException {
        return new CapturingTransport(transport, new PcapngFile(path));
    }

    @Override
    public String name() {
        return transport.name();
    }

    @Override
    public List<EventLoop> loops() {
        return loops;
    }

    @Override
    public int openSockets() {
        return transport.openSockets();
    }

    @Override
    public void close() {
        transport.close();
        file.close();
    }

    /** An event loop whose sockets are captured. */
    private static final class CapturingLoop implements DatagramLoop {
        private final CapturingTransport owner;
        private final CapturedConnections connections;
        private final EventLoop loop;

        CapturingLoop(CapturingTransport owner, EventLoop loop) {
            this.owner = owner;
            connections = owner.connections;
            this.loop = loop;
        }

        @Override
        public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
            DatagramSocket socket = ((DatagramLoop) loop).bind(local, events);
            return new CapturingDatagramSocket(owner.file, owner.datagramSockets, socket);
        }

        @Override
        public int networkUnit(InetAddress local) {
            return ((DatagramLoop) loop).networkUnit(local);
        }

        @Override
        public InetAddress localTo(InetSocketAddress remote) throws IOException {
            return ((DatagramLoop) loop).localTo(remote);
        }

        @Override
        public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
            return new CapturingSocket(connections, loop.connect(remote, events));
        }

        @Override
        public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
            CapturingSocket socket = new CapturingSocket(connections, loop.adopt(pending, events));
            socket.connected(false);
            return socket;
        }

        @Override
        public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
                throws IOException {
            return loop.listen(local, backlog, accepted);
        }

        @Override
        public void execute(Runnable task) {
            loop.execute(task);
        }

        @Override
        public NanoClock clock() {
            return loop.clock();
        }

        @Override
        public Optional<Waits> waits() {
            return loop.waits();
        }

        @Override
        public boolean inLoop() {
            return loop.inLoop();
        }

        @Override
        public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
            return loop.schedule(task, delay, unit);
        }

        @Override
        public int run(long timeoutNs) {
            return loop.run(timeoutNs);
        }
    }
}
