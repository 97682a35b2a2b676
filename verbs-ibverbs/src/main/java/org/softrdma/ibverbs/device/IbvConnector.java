package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.provider.Closing;

/** An id that is resolved to a peer. One application thread. */
final class IbvConnector implements Connector {
    private final OpenDevice device;
    private final QueuePairs queuePairs;
    private final CmId id;
    private final InetSocketAddress remote;
    private final Closing closing = new Closing();
    private @Nullable IbvQueuePair queuePair;
    private boolean connected;

    /**
     * Makes a connector.
     *
     * @param device its device, which counts it already
     * @param queuePairs makes its queue pair
     * @param id resolved, released by {@link #close}
     * @param remote the peer
     */
    IbvConnector(OpenDevice device, QueuePairs queuePairs, CmId id, InetSocketAddress remote) {
        this.device = device;
        this.queuePairs = queuePairs;
        this.id = id;
        this.remote = remote;
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        if (queuePair != null) {
            throw new IllegalStateException("this connector has a queue pair already");
        }
        if (closing.hasBegun()) {
            throw new IllegalStateException("this connector is closed");
        }
        IbvQueuePair created = queuePairs.create(domain, attributes, id);
        queuePair = created;
        return created;
    }

    @Override
    public byte[] connect(ConnectionParameters parameters, long timeoutNs) {
        IbvQueuePair pair = queuePair;
        if (pair == null) {
            throw new IllegalStateException("connect needs a queue pair: call createQueuePair first");
        }
        ConnectionParameters wanted = device.clamp(parameters);
        if (pair.state() != QueuePairState.INITIAL || closing.hasBegun()) {
            throw new IllegalStateException("connect needs a queue pair in state INITIAL, but it is " + pair.state());
        }
        Deadline deadline = Deadline.in(timeoutNs);
        try {
            CmEvent event = CmId.await(
                    id.connect(wanted, remote), CmEventType.ESTABLISHED, deadline, "the connection to", remote);
            connected = true;
            return event.privateData();
        } catch (VerbsException e) {
            pair.enterError("not connected: " + e.getMessage());
            throw e;
        }
    }

    @Override
    public void close() {
        closing.once(() -> {
            if (queuePair != null && !connected) {
                queuePair.enterError("the connector was closed before it connected");
            }
            id.release();
            device.childClosed();
        });
    }
}
