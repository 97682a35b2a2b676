package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

class ConnectorAddressTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private record Accepted(QueuePair queuePair, InetSocketAddress peer) {}

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldTellTheAddressThatTheListenerSees(String address) throws Exception {
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(16);
                Listener listener = device.listen(new InetSocketAddress(InetAddress.getByName(address), 0), 1);
                Connector connector = device.resolve(listener.localAddress(), TIMEOUT_NS)) {
            QueuePairAttributes attributes = QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1));
            CompletableFuture<Accepted> accepting = CompletableFuture.supplyAsync(() -> {
                try (ConnectionRequest request = listener.next(TIMEOUT_NS).orElseThrow()) {
                    QueuePair accepted = request.createQueuePair(domain, attributes);
                    request.accept(ConnectionParameters.DEFAULT);
                    return new Accepted(accepted, request.remoteAddress());
                }
            });
            QueuePair connected = connector.createQueuePair(domain, attributes);
            assertEquals(Optional.empty(), connector.localAddress());
            connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS);
            Accepted accepted = accepting.join();
            assertEquals(Optional.of(accepted.peer), connector.localAddress());
            connected.close();
            accepted.queuePair.close();
        }
    }
}
