package org.softrdma.sim.peer;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * Two ends of a connection.
 *
 * @param client of the side that connected
 * @param server of the side that accepted
 */
record Link(QueuePair client, QueuePair server) {
    /** Connects two devices, of which the server has threads; so many READs and atomics may be in flight. */
    static Link between(TestDevice client, TestDevice server, int inFlight) throws Exception {
        CompletableFuture<QueuePair> accepting = CompletableFuture.supplyAsync(() -> {
            ConnectionRequest request = server.request();
            QueuePair pair = server.queuePair(request, QueuePairLimits.of(4, 4));
            request.accept(ConnectionParameters.ofReads(inFlight));
            return pair;
        });
        try (Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS)) {
            QueuePair pair = client.own(connector.createQueuePair(
                    client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.of(inFlight, 4))));
            connector.connect(ConnectionParameters.ofReads(inFlight), TestDevice.DEADLINE_NS);
            return new Link(pair, accepting.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS));
        }
    }
}
