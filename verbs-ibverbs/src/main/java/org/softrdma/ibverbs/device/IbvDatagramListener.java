package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.provider.Closing;

/** A listening id of datagrams, which accepts every request. The device's thread answers. */
final class IbvDatagramListener implements DatagramListener {
    private static final System.Logger LOG = System.getLogger(IbvDatagramListener.class.getName());
    private static final int BACKLOG = 64;
    private static final byte[] NO_DATA = {};

    private final OpenDevice device;
    private final CmId id;
    private final DatagramService offered;
    private final InetSocketAddress localAddress;
    private final Closing closing = new Closing();

    /**
     * Binds and listens.
     *
     * @param device its device, which counts it already
     * @param id new, released by {@link #close}
     * @param local where
     * @param offered what peers are told
     */
    IbvDatagramListener(OpenDevice device, CmId id, InetSocketAddress local, DatagramService offered) {
        this.device = device;
        this.id = id;
        this.offered = offered;
        id.whenRequested((event, request) -> answer(request));
        id.listen(local, BACKLOG);
        localAddress = id.localAddress();
    }

    /** Somebody has asked. On the device's thread. */
    private void answer(CmId request) {
        try {
            if (request.isOfDevice()) {
                request.answer(offered);
            } else {
                request.reject(NO_DATA, null);
            }
        } catch (VerbsException e) {
            LOG.log(System.Logger.Level.WARNING, "did not answer for a service of datagrams: the peer asks again", e);
        } finally {
            request.release();
        }
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public void close() {
        closing.once(() -> {
            id.release();
            device.childClosed();
        });
    }
}
