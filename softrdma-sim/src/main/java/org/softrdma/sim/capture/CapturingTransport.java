package org.softrdma.sim.capture;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.softrdma.sim.transport.DatagramSocket;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.ForwardingLoop;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.transport.Transport;

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
    private static final class CapturingLoop extends ForwardingLoop {
        private final CapturingTransport owner;
        private final CapturedConnections connections;

        CapturingLoop(CapturingTransport owner, EventLoop loop) {
            super(loop);
            this.owner = owner;
            connections = owner.connections;
        }

        @Override
        public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
            return new CapturingDatagramSocket(owner.file, owner.datagramSockets, super.bind(local, events));
        }

        @Override
        public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
            return new CapturingSocket(connections, super.connect(remote, events));
        }

        @Override
        public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
            CapturingSocket socket = new CapturingSocket(connections, super.adopt(pending, events));
            socket.connected(false);
            return socket;
        }
    }
}
