package org.softrdma.run.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.ForwardingLoop;
import org.softrdma.net.transport.ForwardingTransport;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.Transport;

/** A network whose datagrams are lost, doubled and late as a plan says. Thread: that of its only loop. */
public final class FaultyTransport extends ForwardingTransport {
    /**
     * A network with faults.
     *
     * @param transport closed with this
     */
    public FaultyTransport(Transport transport, CardFaults faults) {
        this(transport, faults, new HashSet<>());
    }

    private FaultyTransport(Transport transport, CardFaults faults, Set<InetSocketAddress> own) {
        super(transport, loop -> new FaultyLoop(loop, faults, own));
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

        @Override
        public DatagramSocket join(InetSocketAddress group, List<InetAddress> locals, SocketEvents events)
                throws IOException {
            return new FaultyDatagramSocket(super.join(group, locals, events), events, this, faults, own);
        }
    }
}
