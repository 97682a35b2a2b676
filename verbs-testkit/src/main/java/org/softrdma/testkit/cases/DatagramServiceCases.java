package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramRequest;
import org.softrdma.verbs.cm.DatagramRequestListener;
import org.softrdma.verbs.cm.DatagramService;

/** Services of datagrams, which the connection manager finds. */
@ExtendWith(TwoNodesExtension.class)
public final class DatagramServiceCases {
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(4, 4);
    private static final int BYTES = 33;
    private static final byte[] NO_DATA = {};
    private static final byte[] DATA = {5, 6, 7};
    private static final byte[] ASKED = {8, 9};
    private static final Set<VerbsErrorCode> REFUSALS = EnumSet.of(VerbsErrorCode.REJECTED, VerbsErrorCode.UNREACHABLE);

    /** Made by JUnit. */
    public DatagramServiceCases() {}

    private static DatagramListener listen(TwoNodes nodes, QueuePairAddress at, int port) {
        return nodes.own(nodes.responder()
                .device()
                .listenForDatagrams(
                        new InetSocketAddress(nodes.responderAddress().getAddress(), port),
                        new DatagramService(at.host(), at.number(), DatagramService.QUEUE_KEY, DATA)));
    }

    private static DatagramService resolve(TwoNodes nodes, InetSocketAddress service) {
        return nodes.requester().device().resolveDatagrams(service, NO_DATA, nodes.timeoutNs());
    }

    @Test
    @ConformanceCase(
            number = 416,
            title = "a service of datagrams is found by its port, as often as it is asked for, and takes what is sent"
                    + " there",
            source = "rdma_connect(3): RDMA_PS_UDP; IBTA 12.11")
    void shouldFindAServiceAndSendToIt(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.DATAGRAM_SERVICES);
        Endpoint to = nodes.unconnected(
                nodes.responder(), LIMITS, QueuePairType.UNRELIABLE_DATAGRAM, DatagramService.QUEUE_KEY);
        Endpoint from = nodes.unconnected(nodes.requester(), LIMITS, QueuePairType.UNRELIABLE_DATAGRAM, 1);
        QueuePairAddress address = to.unconnected().address();
        DatagramListener listener = listen(nodes, address, 0);
        MemoryRegion inbox = nodes.responder().region(RoutingHeader.LENGTH + BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion outbox = nodes.requester().region(BYTES);
        for (int i = 0; i < 2; i++) {
            DatagramService found = resolve(nodes, listener.localAddress());
            assertEquals(address.number(), found.number());
            assertEquals(DatagramService.QUEUE_KEY, found.queueKey());
            assertEquals(-1, Arrays.mismatch(DATA, Arrays.copyOf(found.privateData(), DATA.length)));
            AddressHandle host = nodes.own(nodes.requester().domain().createAddressHandle(found.host()));
            to.receive(i, inbox, 0, inbox.length());
            Endpoint.require(
                    from.queuePair()
                            .postSendTo(
                                    i, outbox, 0, BYTES, host, found.number(), found.queueKey(), SendFlags.SIGNALLED),
                    "a datagram to a service");
            from.sends().expect(i, CompletionOpcode.SEND, 0);
            to.receives().expect(i, CompletionOpcode.RECEIVE, RoutingHeader.LENGTH + BYTES);
        }
    }

    @Test
    @ConformanceCase(
            number = 417,
            title = "a service that nobody offers, or does not offer any more, is not found",
            source = "rdma_get_cm_event(3): RDMA_CM_EVENT_UNREACHABLE; IBTA 12.11")
    void shouldNotFindWhatNobodyOffers(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.DATAGRAM_SERVICES);
        Endpoint to = nodes.unconnected(
                nodes.responder(), LIMITS, QueuePairType.UNRELIABLE_DATAGRAM, DatagramService.QUEUE_KEY);
        DatagramListener listener = listen(nodes, to.unconnected().address(), 0);
        InetSocketAddress service = listener.localAddress();
        VerbsException taken = assertThrows(
                VerbsException.class, () -> listen(nodes, to.unconnected().address(), service.getPort()));
        assertEquals(VerbsErrorCode.ADDRESS_IN_USE, taken.code(), taken.getMessage());
        assertEquals(to.queuePair().number(), resolve(nodes, service).number());
        listener.close();
        VerbsException nobody = assertThrows(VerbsException.class, () -> resolve(nodes, service));
        assertEquals(VerbsErrorCode.UNREACHABLE, nobody.code(), nobody.getMessage());
        listen(nodes, to.unconnected().address(), service.getPort()).close();
    }

    @Test
    @ConformanceCase(
            number = 418,
            title = "the application of a service sees who asks and what comes with it, and accepts or refuses",
            source = "rdma_get_cm_event(3): RDMA_CM_EVENT_CONNECT_REQUEST; rdma_accept(3), rdma_reject(3)")
    void shouldLetTheApplicationDecide(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.DATAGRAM_SERVICES);
        Endpoint to = nodes.unconnected(
                nodes.responder(), LIMITS, QueuePairType.UNRELIABLE_DATAGRAM, DatagramService.QUEUE_KEY);
        QueuePairAddress address = to.unconnected().address();
        DatagramService offered =
                new DatagramService(address.host(), address.number(), DatagramService.QUEUE_KEY, DATA);
        DatagramRequestListener listener = nodes.own(nodes.responder()
                .device()
                .listenForDatagramRequests(
                        new InetSocketAddress(nodes.responderAddress().getAddress(), 0), 4));
        Task<byte[]> accepting = nodes.start("accept", () -> {
            try (DatagramRequest request = listener.next(nodes.timeoutNs()).orElseThrow()) {
                assertFalse(request.remoteAddress().getAddress().isAnyLocalAddress());
                request.accept(offered);
                assertThrows(IllegalStateException.class, () -> request.accept(offered));
                return request.privateData();
            }
        });
        DatagramService found =
                nodes.requester().device().resolveDatagrams(listener.localAddress(), ASKED, nodes.timeoutNs());
        assertEquals(address.number(), found.number());
        assertEquals(-1, Arrays.mismatch(DATA, Arrays.copyOf(found.privateData(), DATA.length)));
        assertEquals(-1, Arrays.mismatch(ASKED, Arrays.copyOf(accepting.get(), ASKED.length)));
        Task<Boolean> refusing = nodes.start("refuse", () -> {
            listener.next(nodes.timeoutNs()).orElseThrow().close();
            return true;
        });
        VerbsException refused = assertThrows(VerbsException.class, () -> resolve(nodes, listener.localAddress()));
        // A kernel does not say that the peer has refused.
        assertTrue(REFUSALS.contains(refused.code()), refused::getMessage);
        assertTrue(refusing.get());
    }
}
