package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.softrdma.ibverbs.Backlog;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.provider.Closing;

/** A listening id and its waiting connection requests. The device's thread adds them, application threads take them. */
final class IbvListener implements Listener {
    private static final System.Logger LOG = System.getLogger(IbvListener.class.getName());
    private static final byte[] NO_DATA = {};

    private final OpenDevice device;
    private final QueuePairs queuePairs;
    private final CmId id;
    private final InetSocketAddress localAddress;
    private final Backlog<ConnectionRequest> requests;
    private final Closing closing = new Closing();

    /**
     * Binds and listens.
     *
     * @param device its device, which counts it already
     * @param queuePairs of the requests
     * @param id new, released by {@link #close}
     * @param local where
     * @param backlog maximum number of waiting requests
     */
    IbvListener(OpenDevice device, QueuePairs queuePairs, CmId id, InetSocketAddress local, int backlog) {
        this.device = device;
        this.queuePairs = queuePairs;
        this.id = id;
        requests = new Backlog<>(backlog);
        id.whenRequested(this::requested);
        id.listen(local, backlog);
        localAddress = id.localAddress();
    }

    /** A peer wants to connect. On the device's thread. */
    private void requested(CmEvent event, CmId request) {
        if (!request.isOfDevice()) {
            refuse(request);
            return;
        }
        IbvConnectionRequest made;
        try {
            made = device.child(() -> new IbvConnectionRequest(device, queuePairs, request, event));
        } catch (VerbsException | IllegalStateException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "refused a connection request: the peer is gone, or the device is closed",
                    e);
            refuse(request);
            return;
        }
        if (!requests.offer(made)) {
            made.close();
        }
    }

    private static void refuse(CmId request) {
        request.reject(NO_DATA, null);
        request.release();
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public Optional<ConnectionRequest> next(long timeoutNs) {
        return requests.take(timeoutNs);
    }

    @Override
    public boolean isClosed() {
        return requests.isClosed();
    }

    @Override
    public void close() {
        closing.once(() -> {
            requests.close().forEach(ConnectionRequest::close);
            id.release();
            device.childClosed();
        });
    }
}
