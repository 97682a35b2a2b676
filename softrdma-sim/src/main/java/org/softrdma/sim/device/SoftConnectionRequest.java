package org.softrdma.sim.device;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.PassiveHandshake;
import org.softrdma.sim.engine.SoftQueuePair;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** A handshake whose request has come, as the application sees it. One application thread. */
final class SoftConnectionRequest implements ConnectionRequest {
    private static final byte[] NO_DATA = {};

    private final SoftRdmaDevice device;
    private final PassiveHandshake handshake;
    private @Nullable SoftQueuePair queuePair;

    SoftConnectionRequest(SoftRdmaDevice device, PassiveHandshake handshake) {
        this.device = device;
        this.handshake = handshake;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return handshake.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return handshake.request().privateData();
    }

    @Override
    public int peerOutboundReads() {
        return handshake.request().ord();
    }

    @Override
    public int peerInboundReads() {
        return handshake.request().ird();
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        device.progress().checkThread();
        if (queuePair != null) {
            throw new IllegalStateException("this request has a queue pair already");
        }
        SoftQueuePair created = device.createQueuePair(domain, attributes, handshake.connection());
        queuePair = created;
        return created;
    }

    @Override
    public void accept(ConnectionParameters parameters, long timeoutNs) {
        device.progress().checkThread();
        SoftQueuePair pair = queuePair;
        if (pair == null) {
            throw new IllegalStateException("accept needs a queue pair: call createQueuePair first");
        }
        CompletableFuture<Void> established = handshake.accept(pair, device.clamp(parameters));
        Waiting.establish(
                established,
                device.progress(),
                timeoutNs,
                "the connection of " + remoteAddress(),
                handshake::giveUp);
    }

    @Override
    public void reject(byte[] privateData) {
        device.progress().checkThread();
        device.checkPrivateData(privateData.length);
        if (!handshake.reject(privateData)) {
            throw new IllegalStateException("this request was already accepted, rejected or closed");
        }
    }

    @Override
    public void close() {
        handshake.reject(NO_DATA);
    }
}
