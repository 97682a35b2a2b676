package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** A peer's request. One thread of the program. It need not be closed once it is answered. */
final class SanitisedConnectionRequest implements ConnectionRequest {
    private final ConnectionRequest request;
    private final InetSocketAddress listening;
    private final QueuePairMaker maker;
    private final Lifetime lifetime;
    private volatile @Nullable SanitisedQueuePair queuePair;

    SanitisedConnectionRequest(ConnectionRequest request, InetSocketAddress listening, QueuePairMaker maker) {
        this.request = request;
        this.listening = listening;
        this.maker = maker;
        lifetime = maker.lifetime("connection request of " + request.remoteAddress());
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return request.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return request.privateData();
    }

    @Override
    public OptionalInt peerOutboundReads() {
        return request.peerOutboundReads();
    }

    @Override
    public OptionalInt peerInboundReads() {
        return request.peerInboundReads();
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        SanitisedQueuePair made = maker.make(request::createQueuePair, domain, attributes);
        queuePair = made;
        return made;
    }

    @Override
    public void accept(ConnectionParameters parameters) {
        SanitisedQueuePair accepting = queuePair;
        if (accepting != null) {
            accepting.watch().accepting(listening, request.remoteAddress());
        }
        request.accept(parameters);
        lifetime.end();
    }

    @Override
    public void reject(byte[] privateData) {
        request.reject(privateData);
        lifetime.end();
    }

    @Override
    public void close() {
        request.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return request.toString();
    }
}
