package org.softrdma.run.faults;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.softrdma.sim.transport.DatagramSocket;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.ForwardingLoop;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.Transport;

/** A network whose datagrams are lost, doubled and late as a plan says. Thread: that of its only loop. */
public final class FaultyTransport implements Transport {
    private final Transport transport;
    private final List<EventLoop> loops;

    /**
     * A network with faults.
     *
     * @param transport closed with this
     */
    public FaultyTransport(Transport transport, CardFaults faults) {
        this.transport = transport;
        Set<InetSocketAddress> own = new HashSet<>();
        loops = transport.loops().stream()
                .map(loop -> (EventLoop) new FaultyLoop(loop, faults, own))
                .toList();
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
    }

    private static final class FaultyLoop extends ForwardingLoop {
        private final CardFaults faults;
        private final Set<InetSocketAddress> own;

        FaultyLoop(EventLoop loop, CardFaults faults, Set<InetSocketAddress> own) {
            super(loop);
            this.faults = faults;
            this.own = own;
        }

        @Override
        public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
            return new FaultyDatagramSocket(super.bind(local, events), events, this, faults, own);
        }
    }
}
