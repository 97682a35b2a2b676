package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** The code of docs/guide/messages.md about datagrams, on a fake of rdma-core. */
class DatagramGuideTest {
    private static final int KEY = 0x50F7;

    private final FakePair pair = FakePair.roce();

    /** The completion of a request; those of others are skipped. */
    private WorkCompletion next(long wrId) {
        WorkCompletion next = pair.completion();
        while (next.wrId() != wrId) {
            next = pair.completion();
        }
        assertTrue(next.isSuccess(), next::toString);
        return next;
    }

    @Test
    void shouldAnswerADatagramToWhereItCameFrom() {
        try (pair) {
            ProtectionDomain domain = pair.domain;
            QueuePairAttributes attributes = QueuePairAttributes.of(pair.queue, QueuePairLimits.DEFAULT);
            MemoryRegion inbox = pair.region(100, AccessFlag.RECEIVE_SINK);
            MemoryRegion request = pair.region(100, AccessFlag.RECEIVE_SINK);
            request.memory().setString(0, "ping");
            // docs: datagrams
            try (var server = domain.createQueuePair(attributes.withDatagrams(KEY));
                    var client = domain.createQueuePair(attributes.withDatagrams(KEY));
                    var toServer = domain.createAddressHandle(server.address().host())) {
                server.postReceive(1, inbox, 0, inbox.length());
                client.postSendTo(2, request, 0, 5, toServer, server.address().number(), KEY, SendFlags.SIGNALLED);

                WorkCompletion received = next(1);
                long length = received.byteLength() - RoutingHeader.LENGTH; // the datagram is behind its header
                var from = new InetSocketAddress(RoutingHeader.source(inbox.memory()), QueuePairAddress.PORT);
                try (var toClient = domain.createAddressHandle(from)) {
                    server.postSendTo(
                            3,
                            inbox,
                            RoutingHeader.LENGTH,
                            length,
                            toClient,
                            received.sourceNumber(),
                            KEY,
                            SendFlags.SIGNALLED);
                    next(3);
                }
            }
            // docs: end
            assertEquals("ping", inbox.memory().getString(RoutingHeader.LENGTH));
        }
    }
}
