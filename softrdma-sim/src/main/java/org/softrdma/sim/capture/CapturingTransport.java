package org.softrdma.sim.capture;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.transport.Transport;
import org.softrdma.sim.transport.Waits;

/**
 * A transport that captures its connections in a file, each once: if both ends belong to this transport, the end that
 * came first. Rejected: a hook in the sockets, which every receive and send would have to check.
 *
 * <p>Any of its event loops calls {@link #open} and {@link #closed}; for the rest see {@link Transport}.
 */
public final class CapturingTransport implements Transport {
    private static final int SEQUENCE_STEP = 100_003;

    private final Transport transport;
    private final PcapngFile file;
    private final List<EventLoop> loops;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Ends> captured = new HashSet<>();
    private int sequence;

    private record Ends(InetSocketAddress local, InetSocketAddress remote) {}

    private CapturingTransport(Transport transport, PcapngFile file) {
        this.transport = transport;
        this.file = file;
        loops = transport.loops().stream()
                .map(loop -> (EventLoop) new CapturingLoop(loop))
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

    /** A connection was established: returns where to capture it, or null if its other end is captured. */
    @Nullable
    CapturedStream open(InetSocketAddress local, InetSocketAddress remote, boolean active) {
        int first;
        lock.lock();
        try {
            if (captured.contains(new Ends(remote, local))) {
                return null;
            }
            captured.add(new Ends(local, remote));
            // Different for each connection, because ports are reused.
            sequence += SEQUENCE_STEP;
            first = sequence;
        } finally {
            lock.unlock();
        }
        return new CapturedStream(file, local, remote, active, first);
    }

    /** A captured connection was closed. */
    void closed(CapturedStream stream) {
        lock.lock();
        try {
            captured.remove(new Ends(stream.localAddress(), stream.remoteAddress()));
        } finally {
            lock.unlock();
        }
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
    private final class CapturingLoop implements EventLoop {
        private final EventLoop loop;

        CapturingLoop(EventLoop loop) {
            this.loop = loop;
        }

        @Override
        public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
            return new CapturingSocket(CapturingTransport.this, loop.connect(remote, events));
        }

        @Override
        public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
            CapturingSocket socket = new CapturingSocket(CapturingTransport.this, loop.adopt(pending, events));
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
