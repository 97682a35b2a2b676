package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Both ends of a connection of a device to itself. */
record ConnectedPair(QueuePair connecting, QueuePair accepting) implements AutoCloseable {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    static ConnectedPair of(VerbsDevice device, ProtectionDomain domain, CompletionQueue queue) {
        return of(device, domain, QueuePairAttributes.of(queue, QueuePairLimits.of(4, 4)));
    }

    static ConnectedPair of(VerbsDevice device, ProtectionDomain domain, QueuePairAttributes attributes) {
        try (Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
                Connector connector = device.resolve(listener.localAddress(), TIMEOUT_NS)) {
            QueuePair connecting = connector.createQueuePair(domain, attributes);
            CompletableFuture<Void> connected =
                    CompletableFuture.runAsync(() -> connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS));
            try (ConnectionRequest request = listener.next(TIMEOUT_NS).orElseThrow()) {
                QueuePair accepting = request.createQueuePair(domain, attributes);
                request.accept(ConnectionParameters.DEFAULT);
                connected.join();
                return new ConnectedPair(connecting, accepting);
            }
        }
    }

    /** Waits until both ends have said why they ended; returns what the connecting one said. */
    String end() throws Exception {
        accepting.disconnected().toCompletableFuture().get(TIMEOUT_NS, TimeUnit.NANOSECONDS);
        String reason = connecting.disconnected().toCompletableFuture().get(TIMEOUT_NS, TimeUnit.NANOSECONDS);
        assertEquals(QueuePairState.ERROR, connecting.state());
        return reason;
    }

    @Override
    public void close() {
        connecting.close();
        accepting.close();
    }
}
