package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/** A connection to be made. One thread of the program. */
final class SanitisedConnector implements Connector {
    private final Connector connector;
    private final InetSocketAddress remote;
    private final QueuePairMaker maker;
    private final Lifetime lifetime;
    private volatile @Nullable SanitisedQueuePair queuePair;

    SanitisedConnector(Connector connector, InetSocketAddress remote, QueuePairMaker maker) {
        this.connector = connector;
        this.remote = remote;
        this.maker = maker;
        lifetime = maker.lifetime("connector to " + remote);
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        SanitisedQueuePair made = maker.make(connector::createQueuePair, domain, attributes);
        queuePair = made;
        return made;
    }

    @Override
    public byte[] connect(ConnectionParameters parameters, long timeoutNs) {
        byte[] reply = connector.connect(parameters, timeoutNs);
        SanitisedQueuePair connected = queuePair;
        if (connected != null) {
            connected.watch().connected(localAddress().orElse(null), remote);
        }
        return reply;
    }

    @Override
    public Optional<InetSocketAddress> localAddress() {
        return connector.localAddress();
    }

    @Override
    public void close() {
        connector.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return connector.toString();
    }
}
