package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.ListenException;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.PrivateData;

/**
 * A service of the connection manager, by the number of its port in the port space of rdma_cm: no socket of its own, and
 * none but the ports' UDP port. On the wildcard it looks now and then whether this host has other addresses. Thread of the
 * first engine.
 */
final class RoceListener implements Acceptor {
    private static final int FIRST_CHOSEN = 0x8000;
    private static final int LAST_CHOSEN = 0xEFFF;
    private static final int TRIALS = 256;

    private static final Logger LOG = LoggerFactory.getLogger(RoceListener.class);
    /** From one look for other addresses to the next. */
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(2);

    private final RocePorts ports;
    private final Consumer<PeerRequest> requests;
    private final List<RocePort> heard = new ArrayList<>();
    /** Where this listener could not be, of which was told. */
    private final Set<InetAddress> refused = new HashSet<>();

    private final Runnable lookTask;
    private InetSocketAddress local = new InetSocketAddress(0);
    private EventLoop.@Nullable Cancellable look;
    private boolean closed;

    RoceListener(RocePorts ports, Consumer<PeerRequest> requests) {
        this.ports = ports;
        this.requests = requests;
        lookTask = ports.engine().loop().careful(this::look);
    }

    RoceListener open(InetSocketAddress wanted) throws IOException {
        RoceListener opened = openNow(wanted);
        boolean simulated = ports.engine().loop().waits().isPresent(); // whose addresses are others than this machine's
        if (wanted.getAddress().isAnyLocalAddress() && !simulated) {
            look = ports.engine().schedule(lookTask, LOOK_NS);
        }
        return opened;
    }

    private RoceListener openNow(InetSocketAddress wanted) throws IOException {
        List<RocePort> all = new ArrayList<>();
        for (InetAddress address : RocePorts.addresses(wanted.getAddress())) {
            try {
                all.add(ports.listening(address));
            } catch (IOException e) {
                if (!address.isLinkLocalAddress()) {
                    throw e;
                }
                isRefused(address, e); // it may be one that is not in use yet
            }
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
                stopListening();
                return false;
            }
            heard.add(port);
        }
        return true;
    }

    /** An address that has come up since is heard, too. */
    private void look() {
        if (closed) {
            return;
        }
        try {
            for (InetAddress address : RocePorts.addresses(local.getAddress())) {
                if (heard.stream().noneMatch(port -> RocePorts.isAt(port, address))) {
                    hear(address);
                }
            }
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            LOG.debug("cannot look for other addresses of this host", e);
        } finally {
            look = ports.engine().schedule(lookTask, LOOK_NS);
        }
    }

    private void hear(InetAddress address) {
        try {
            RocePort port = ports.listening(address);
            heard.add(port); // first: it is not to be forgotten at the end
            if (port.manager().listen(serviceId(), ConnectRequest.RELIABLE, request -> requested(port, request))) {
                LOG.info("listens at {}, too", AddressText.of(new InetSocketAddress(address, local.getPort())));
            } else {
                heard.remove(port);
                isRefused(address, ListenException.of(ListenException.Reason.IN_USE, local));
            }
        } catch (IOException e) {
            isRefused(address, e);
        }
    }

    private void isRefused(InetAddress address, IOException why) {
        if (refused.add(address)) {
            LOG.info("does not listen at {} yet: {}", address.getHostAddress(), why.getMessage());
        }
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
        stopListening();
        closed = true;
        if (look != null) {
            look.cancel();
        }
    }

    private void stopListening() {
        heard.forEach(port -> port.manager().stopListening(serviceId()));
        heard.clear();
    }
}
