package org.softrdma.sim.device;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** A connection request of a peer, as the application sees it. One application thread. */
final class SoftConnectionRequest implements ConnectionRequest {
    private static final byte[] NO_DATA = {};

    private final SoftRdmaDevice device;
    private final PeerRequest request;
    private volatile @Nullable SoftQueuePair queuePair;
    private volatile boolean accepting;

    SoftConnectionRequest(SoftRdmaDevice device, PeerRequest request) {
        this.device = device;
        this.request = request;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return request.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return device.shown(request.privateData());
    }

    @Override
    public OptionalInt peerOutboundReads() {
        return request.outboundReads();
    }

    @Override
    public OptionalInt peerInboundReads() {
        return request.inboundReads();
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        device.progress().checkThread();
        if (queuePair != null) {
            throw new IllegalStateException("this request has a queue pair already");
        }
        SoftQueuePair created = device.queuePairs().create(domain, attributes, request.connection());
        queuePair = created;
        return created;
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        device.progress().checkThread();
        SoftQueuePair pair = queuePair;
        if (pair == null) {
            throw new IllegalStateException("accept needs a queue pair: call createQueuePair first");
        }
        accepting = true;
        if (pair.state() != QueuePairState.INITIAL) {
            throw new IllegalStateException("accept needs a queue pair in state INITIAL, but it is " + pair.state());
        }
        CompletableFuture<Void> replied = request.accept(pair, device.clamp(parameters));
        device.progress().settle(replied);
        Waiting.result(replied);
    }

    @Override
    public void reject(byte[] privateData) {
        device.progress().checkThread();
        device.checkPrivateData(privateData.length);
        if (!request.reject(privateData)) {
            throw new IllegalStateException("this request was already accepted, rejected or closed");
        }
        abandonQueuePair();
    }

    @Override
    public void close() {
        boolean rejectedNow = request.reject(NO_DATA);
        if (rejectedNow || !accepting) {
            abandonQueuePair();
        }
    }

    private void abandonQueuePair() {
        SoftQueuePair pair = queuePair;
        if (pair != null) {
            pair.abandon("the connection request was rejected");
        }
    }
}
