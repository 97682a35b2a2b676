package org.softrdma.kv;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The transport of a client's device in manual progress: whenever the client drives or waits for its device, the server does its
 * work first, on the same thread. When neither has anything to do, time passes on the clock of both.
 */
record SteppingTransport(Transport transport, MemoryNetwork server) implements Transport {
    private static final long HOST_TIMEOUT_MS = 8_000;

    /** What an idle turn really waits; what passes on the clock is what the client wanted to wait. */
    private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** A device for clients of a server that is stepped. The calling thread owns it. */
    static VerbsDevice device(MemoryNetwork server) {
        Transport sockets = NettyTransport.nio(1, true, new SocketOptions(0, 0, HOST_TIMEOUT_MS));
        return new SoftRdmaDevice(
                new SoftRdmaContext()
                        .set(Map.of("progress", "manual"))
                        .conclude()
                        .deviceSettings(),
                new SteppingTransport(sockets, server));
    }

    @Override
    public String name() {
        return "stepping";
    }

    @Override
    public List<EventLoop> loops() {
        return List.of(new Loop(transport.loops().getFirst(), server));
    }

    @Override
    public int openSockets() {
        return transport.openSockets();
    }

    @Override
    public void close() {
        transport.close();
    }

    private record Loop(EventLoop loop, MemoryNetwork server) implements EventLoop {
        @Override
        public int run(long timeoutNs) {
            boolean stepped = server.stepAll();
            int ran = loop.run(stepped ? 0 : Math.min(timeoutNs, IDLE_NS));
            if (!stepped && ran == 0) {
                server.pass(timeoutNs);
            }
            return ran;
        }

        @Override
        public void execute(Runnable task) {
            loop.execute(task);
        }

        @Override
        public Runnable careful(Runnable task) {
            return loop.careful(task);
        }

        @Override
        public NanoClock clock() {
            return loop.clock();
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
        public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
            return loop.connect(remote, events);
        }

        @Override
        public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
                throws IOException {
            return loop.listen(local, backlog, accepted);
        }

        @Override
        public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
            return loop.adopt(pending, events);
        }
    }
}
