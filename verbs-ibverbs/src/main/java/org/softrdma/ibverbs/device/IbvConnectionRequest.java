package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.provider.Closing;

/** The id of a connect request. One application thread. */
final class IbvConnectionRequest implements ConnectionRequest {
    private static final byte[] NO_DATA = {};

    private final OpenDevice device;
    private final QueuePairs queuePairs;
    private final CmId id;
    private final CmEvent event;
    private final InetSocketAddress remote;
    private final AtomicBoolean answered = new AtomicBoolean();
    private final AtomicBoolean released = new AtomicBoolean();
    private final Closing closing = new Closing();
    private @Nullable IbvQueuePair queuePair;

    /**
     * Makes a request.
     *
     * @param device its device, which counts it already
     * @param queuePairs makes its queue pair
     * @param id of the request, released by {@link #reject} or {@link #close}
     * @param event that brought it
     */
    IbvConnectionRequest(OpenDevice device, QueuePairs queuePairs, CmId id, CmEvent event) {
        this.device = device;
        this.queuePairs = queuePairs;
        this.id = id;
        this.event = event;
        remote = id.remoteAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public byte[] privateData() {
        return event.privateData().clone();
    }

    // rdma_get_cm_event(3): the responder resources are what this side is asked for, the initiator depth is what it may
    // use.

    @Override
    public OptionalInt peerOutboundReads() {
        return event.responderResources();
    }

    @Override
    public OptionalInt peerInboundReads() {
        return event.initiatorDepth();
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        if (queuePair != null) {
            throw new IllegalStateException("this request has a queue pair already");
        }
        if (released.get()) {
            throw new IllegalStateException("this request is closed");
        }
        IbvQueuePair created = queuePairs.create(domain, attributes, id);
        queuePair = created;
        return created;
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        IbvQueuePair pair = queuePair;
        if (pair == null) {
            throw new IllegalStateException("accept needs a queue pair: call createQueuePair first");
        }
        ConnectionParameters wanted = device.clamp(parameters);
        if (pair.state() != QueuePairState.INITIAL) {
            throw new IllegalStateException("accept needs a queue pair in state INITIAL, but it is " + pair.state());
        }
        claimAnswer();
        ConnectionParameters agreed = new ConnectionParameters(
                Math.min(wanted.outboundReads(), peerInboundReads().orElse(Integer.MAX_VALUE)),
                Math.min(wanted.inboundReads(), peerOutboundReads().orElse(Integer.MAX_VALUE)),
                wanted.privateData());
        try {
            id.accept(agreed, pair);
        } catch (VerbsException e) {
            pair.enterError("not connected: " + e.getMessage());
            throw e;
        }
    }

    @Override
    public void reject(byte[] privateData) {
        device.checkPrivateData(privateData.length);
        claimAnswer();
        refuse(privateData);
    }

    private void claimAnswer() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException("this request was already accepted, rejected or closed");
        }
    }

    @Override
    public void close() {
        closing.once(() -> {
            if (answered.compareAndSet(false, true)) {
                refuse(NO_DATA);
            } else {
                release();
            }
        });
    }

    private void refuse(byte[] privateData) {
        id.reject(privateData, queuePair);
        release();
    }

    private void release() {
        if (released.compareAndSet(false, true)) {
            id.release();
            device.childClosed();
        }
    }
}
