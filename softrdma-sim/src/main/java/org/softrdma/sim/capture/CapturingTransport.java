package org.softrdma.sim.capture;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.ForwardingLoop;
import org.softrdma.net.transport.ForwardingTransport;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Transport;

/**
 * A transport that captures its connections in a file, each once ({@link CapturedConnections}), and its datagrams ({@link
 * CapturingDatagramSocket}). Rejected: a hook in the
 * sockets, which every receive and send would have to check.
 */
public final class CapturingTransport extends ForwardingTransport {
    private final PcapngFile file;

    private CapturingTransport(
            Transport transport,
            PcapngFile file,
            CapturedConnections connections,
            CapturedDatagramSockets datagramSockets) {
        super(transport, loop -> new CapturingLoop(loop, file, connections, datagramSockets));
        this.file = file;
    }

    /**
     * Captures the connections of a transport.
     *
     * @param transport closed with the result
     * @param path a file, created or appended to
     * @throws IOException if it cannot be written; the transport is left open
     */
    public static Transport of(Transport transport, Path path) throws IOException {
        PcapngFile file = new PcapngFile(path);
        return new CapturingTransport(transport, file, new CapturedConnections(file), new CapturedDatagramSockets());
    }

    @Override
    public void close() {
        super.close();
        file.close();
    }

    /** An event loop whose sockets are captured. */
    private static final class CapturingLoop extends ForwardingLoop {
        private final PcapngFile file;
        private final CapturedConnections connections;
        private final CapturedDatagramSockets datagramSockets;

        CapturingLoop(
                EventLoop loop,
                PcapngFile file,
                CapturedConnections connections,
                CapturedDatagramSockets datagramSockets) {
            super(loop);
            this.file = file;
            this.connections = connections;
            this.datagramSockets = datagramSockets;
        }

        @Override
        public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
            return new CapturingDatagramSocket(file, datagramSockets, super.bind(local, events));
        }

        @Override
        public DatagramSocket join(InetSocketAddress group, List<InetAddress> locals, SocketEvents events)
                throws IOException {
            return new CapturingDatagramSocket(file, datagramSockets, super.join(group, locals, events));
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
