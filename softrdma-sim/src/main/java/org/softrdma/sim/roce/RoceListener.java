package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.sim.transport.ListenException;

/**
 * A service of the connection manager, by the number of its port in the port space of rdma_cm: no socket of its own, and
 * none but the ports' UDP port. Thread of the first engine.
 */
final class RoceListener implements Acceptor {
    private static final int FIRST_CHOSEN = 0x8000;
    private static final int LAST_CHOSEN = 0xEFFF;
    private static final int TRIALS = 256;

    private final RocePorts ports;
    private final Consumer<PeerRequest> requests;
    private final List<RocePort> heard = new ArrayList<>();
    private InetSocketAddress local = new InetSocketAddress(0);

    RoceListener(RocePorts ports, Consumer<PeerRequest> requests) {
        this.ports = ports;
        this.requests = requests;
    }

    RoceListener open(InetSocketAddress wanted) throws IOException {
        List<RocePort> all = new ArrayList<>();
        for (InetAddress address : RocePorts.addresses(wanted.getAddress())) {
            all.add(ports.listening(address));
        }
        if (wanted.getPort() != 0) {
            if (!listen(all, wanted)) {
                throw ListenException.of(ListenException.Reason.IN_USE, wanted);
            }
            return this;
        }
        for (int i = 0; i < TRIALS; i++) {
            int chosen = ports.random().nextInt(FIRST_CHOSEN, LAST_CHOSEN);
            if (listen(all, new InetSocketAddress(wanted.getAddress(), chosen))) {
                return this;
            }
        }
        throw ListenException.of(ListenException.Reason.NO_PORT, wanted);
    }

    /** On all ports or none. */
    private boolean listen(List<RocePort> all, InetSocketAddress address) {
        local = address;
        for (RocePort port : all) {
            if (!port.manager().listen(serviceId(), ConnectRequest.RELIABLE, request -> requested(port, request))) {
                close();
                return false;
            }
            heard.add(port);
        }
        return true;
    }

    private long serviceId() {
        return AddressHeader.serviceId(AddressHeader.PORT_SPACE_TCP, local.getPort());
    }

    private CmEvents requested(RocePort port, CmConnection manager) {
        RoceConnection connection = new RoceConnection(ports);
        connection.managedBy(manager, port);
        PassiveConnect request = new PassiveConnect(connection, port, local, manager);
        connection.attach(request);
        if (request.hasTransferUnit()) {
            requests.accept(request);
        } else {
            manager.reject(ConnectReject.INVALID_MTU, PrivateData.NONE, port.nowNs());
            connection.end("the peer wants another transfer unit");
        }
        return connection;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public void close() {
        heard.forEach(port -> port.manager().stopListening(serviceId()));
        heard.clear();
    }
}
