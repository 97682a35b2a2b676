package org.softrdma.sim.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.AddressText;
import org.softrdma.sim.engine.RunOnce;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.link.Wire;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/**
 * Queues the requests of peers. A queue that is full rejects. Engines add, application threads take.
 */
final class SoftListener implements Listener {
    private static final Logger LOG = LoggerFactory.getLogger(SoftListener.class);
    private static final byte[] NO_DATA = {};

    private final SoftRdmaDevice device;
    private final PeerQueue<PeerRequest> requests;
    private final Function<PeerRequest, ConnectionRequest> shown;
    private final RunOnce end;
    private volatile @Nullable Acceptor acceptor;

    SoftListener(SoftRdmaDevice device, int backlog) {
        this.device = device;
        requests = new PeerQueue<>(device.progress(), backlog, "a connection request");
        shown = request -> new SoftConnectionRequest(device, request);
        end = new RunOnce(device.firstEngine(), this::endListening);
    }

    void open(Wire wire, InetSocketAddress local) throws IOException {
        acceptor = wire.listen(local, requests.backlog(), this::requested);
    }

    private void requested(PeerRequest request) {
        boolean taken = requests.add(request);
        if (!taken) {
            boolean ignored = request.reject(NO_DATA); // first: there may be no memory to tell of it
            LOG.info(
                    "rejected {}: the listener is closed or its backlog of {} requests is full",
                    AddressText.of(request.remoteAddress()),
                    requests.backlog());
        }
    }

    @Override
    public InetSocketAddress localAddress() {
        Acceptor current = acceptor;
        if (current == null) {
            throw new IllegalStateException("the listener is not open");
        }
        return (InetSocketAddress) current.localAddress();
    }

    @Override
    public Optional<ConnectionRequest> next(long timeoutNs) {
        return requests.next(timeoutNs, shown);
    }

    @Override
    public boolean isClosed() {
        return requests.isClosed();
    }

    @Override
    public void close() {
        device.progress().checkThread();
        requests.close(request -> {
            boolean ignored = request.reject(NO_DATA);
        });
        end.run();
    }

    private void endListening() {
        Acceptor current = acceptor;
        try {
            if (current != null) {
                device.stoppedListening(localAddress());
                current.close();
            }
        } finally {
            device.childClosed();
        }
    }
}
