package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.softrdma.ibverbs.Backlog;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.DatagramRequest;
import org.softrdma.verbs.cm.DatagramRequestListener;
import org.softrdma.verbs.provider.Closing;

/** A listening id of datagrams and its waiting questions. The device's thread adds them, application threads take them. */
final class IbvDatagramRequestListener implements DatagramRequestListener {
    private static final System.Logger LOG = System.getLogger(IbvDatagramRequestListener.class.getName());
    private static final byte[] NO_DATA = {};

    private final OpenDevice device;
    private final CmId id;
    private final InetSocketAddress localAddress;
    private final Backlog<DatagramRequest> requests;
    private final Closing closing = new Closing();

    /**
     * Binds and listens.
     *
     * @param device its device, which counts it already
     * @param id new, released by {@link #close}
     * @param local where
     * @param backlog questions that may wait
     */
    IbvDatagramRequestListener(OpenDevice device, CmId id, InetSocketAddress local, int backlog) {
        this.device = device;
        this.id = id;
        requests = new Backlog<>(backlog);
        id.whenRequested(this::asked);
        id.listen(local, backlog);
        localAddress = id.localAddress();
    }

    /** Somebody asks. On the device's thread. */
    private void asked(CmEvent event, CmId request) {
        IbvDatagramRequest made;
        try {
            if (!request.isOfDevice()) {
                refuse(request);
                return;
            }
            made = device.child(() -> new IbvDatagramRequest(device, request, event));
        } catch (VerbsException | IllegalStateException e) {
            LOG.log(System.Logger.Level.WARNING, "refused a question for datagrams: the device is closed", e);
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
    public Optional<DatagramRequest> next(long timeoutNs) {
        return requests.take(timeoutNs);
    }

    @Override
    public void close() {
        closing.once(() -> {
            requests.close().forEach(DatagramRequest::close);
            id.release();
            device.childClosed();
        });
    }
}
