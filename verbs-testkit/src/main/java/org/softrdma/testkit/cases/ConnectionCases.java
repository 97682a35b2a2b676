package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;

/** The connection manager: private data, rejection, READ depths, deadlines. */
@ExtendWith(TwoNodesExtension.class)
public final class ConnectionCases {
    private static final int BYTES = 64;
    private static final long SHORT_NS = 300_000_000;
    private static final ConnectionParameters DEFAULT = ConnectionParameters.DEFAULT;

    /** Made by JUnit. */
    public ConnectionCases() {}

    /** An active side that the case drives itself. */
    private record Active(Connector connector, QueuePair queuePair, CompletionReader completions) {
        static Active to(TwoNodes nodes, InetSocketAddress address) {
            Connector connector = nodes.own(nodes.requester().device().resolve(address, nodes.timeoutNs()));
            CompletionReader completions = nodes.requester().completions(64);
            QueuePair queuePair = nodes.own(connector.createQueuePair(
                    nodes.requester().domain(),
                    QueuePairAttributes.of(completions.queue(), QueuePairLimits.of(16, 16))));
            return new Active(connector, queuePair, completions);
        }
    }

    private static byte[] randomBytes(TwoNodes nodes, int length) {
        byte[] bytes = new byte[length];
        nodes.random().nextBytes(bytes);
        return bytes;
    }

    @Test
    @ConformanceCase(
            number = 87,
            title = "private data of 0, 1 and the most bytes arrives both ways; one byte more is refused",
            source = "rdma_connect(3) private_data; RFC 5044 section 7.1, RFC 6581 section 6")
    void shouldCarryPrivateDataWhenConnecting(TwoNodes nodes) {
        int most = nodes.requester().device().capabilities().maxPrivateData();
        nodes.require(most > 0, "no private data");
        for (int length : new int[] {0, 1, most}) {
            byte[] request = randomBytes(nodes, length);
            byte[] reply = randomBytes(nodes, length);
            Task<byte[]> accepting = nodes.start("accept", () -> acceptOne(nodes, reply));
            Active active = Active.to(nodes, nodes.responderAddress());
            byte[] received = active.connector.connect(DEFAULT.withPrivateData(request), nodes.timeoutNs());
            expectPrivateData(nodes, reply, received, length + " bytes of the accept");
            expectPrivateData(nodes, request, accepting.get(), length + " bytes of the request");
        }
        Active tooMuch = Active.to(nodes, nodes.responderAddress());
        assertThrows(
                IllegalArgumentException.class,
                () -> tooMuch.connector.connect(DEFAULT.withPrivateData(new byte[most + 1]), nodes.timeoutNs()));
        nodes.linger(20_000_000);
        assertEquals(Optional.empty(), nodes.listener().next(0), "something was sent");
    }

    private static void expectPrivateData(TwoNodes nodes, byte[] expected, byte[] found, String what) {
        byte[] padded = nodes.traits().has(Trait.PADS_PRIVATE_DATA)
                ? Arrays.copyOf(expected, Math.max(expected.length, found.length))
                : expected;
        assertArrayEquals(padded, found, what);
    }

    private static byte[] acceptOne(TwoNodes nodes, byte[] reply) {
        try (ConnectionRequest request =
                nodes.listener().next(nodes.timeoutNs()).orElseThrow()) {
            CompletionReader completions = nodes.responder().completions(64);
            nodes.own(request.createQueuePair(
                    nodes.responder().domain(),
                    QueuePairAttributes.of(completions.queue(), QueuePairLimits.of(16, 16))));
            int most = nodes.responder().device().capabilities().maxPrivateData();
            ConnectionParameters tooMuch = DEFAULT.withPrivateData(new byte[most + 1]);
            assertThrows(IllegalArgumentException.class, () -> request.accept(tooMuch));
            request.accept(DEFAULT.withPrivateData(reply));
            return request.privateData();
        }
    }

    @Test
    @ConformanceCase(
            number = 88,
            title = "connecting where nothing listens fails in time, and a later attempt elsewhere works",
            source = "rdma_connect(3); RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED")
    void shouldFailInTimeWhenNobodyListens(TwoNodes nodes) {
        Listener gone = nodes.responder()
                .device()
                .listen(new InetSocketAddress(nodes.settings().address(), 0), 1);
        InetSocketAddress address = gone.localAddress();
        gone.close();
        long start = nodes.nanoTime();
        VerbsException refused = assertThrows(VerbsException.class, () -> {
            Active active = Active.to(nodes, address);
            try {
                active.connector.connect(DEFAULT, nodes.timeoutNs());
            } finally {
                assertEquals(QueuePairState.ERROR, active.queuePair.state());
            }
        });
        assertTrue(nodes.nanoTime() - start <= nodes.timeoutNs() * 2, "refusal took longer than its deadline");
        assertTrue(
                Set.of(VerbsErrorCode.UNREACHABLE, VerbsErrorCode.REJECTED).contains(refused.code()),
                refused.code() + ": " + refused.getMessage());
        nodes.connect().barrier();
    }

    @Test
    @ConformanceCase(
            number = 89,
            title = "a refusal reaches the peer with its private data, and nobody is connected",
            source = "rdma_reject(3); RFC 5044 section 7.1 (R bit)")
    void shouldTellThePeerWhenRejected(TwoNodes nodes) {
        int most = nodes.responder().device().capabilities().maxPrivateData();
        for (int length : most == 0 ? new int[] {0} : new int[] {0, 1, most}) {
            byte[] why = randomBytes(nodes, length);
            Task<Integer> rejecting = nodes.start("reject", () -> {
                try (ConnectionRequest request =
                        nodes.listener().next(nodes.timeoutNs()).orElseThrow()) {
                    CompletionReader completions = nodes.responder().completions(64);
                    QueuePair unused = nodes.own(request.createQueuePair(
                            nodes.responder().domain(),
                            QueuePairAttributes.of(completions.queue(), QueuePairLimits.of(4, 4))));
                    request.reject(why);
                    assertEquals(QueuePairState.ERROR, unused.state());
                }
                return 0;
            });
            Active active = Active.to(nodes, nodes.responderAddress());
            ConnectionRejectedException rejected = assertThrows(
                    ConnectionRejectedException.class, () -> active.connector.connect(DEFAULT, nodes.timeoutNs()));
            assertEquals(VerbsErrorCode.REJECTED, rejected.code());
            expectPrivateData(nodes, why, rejected.privateData(), length + " bytes of the refusal");
            assertEquals(QueuePairState.ERROR, active.queuePair.state());
            rejecting.get();
        }
    }

    @Test
    @ConformanceCase(
            number = 90,
            title = "both ends see the smaller of the READs wanted and the READs granted",
            source = "rdma_connect(3) initiator_depth, responder_resources; RFC 6581 section 9")
    void shouldAgreeOnTheMinimumWhenDepthsDiffer(TwoNodes nodes) {
        ConnectionParameters wants = new ConnectionParameters(4, 7, new byte[0]);
        ConnectionParameters grants = new ConnectionParameters(2, 1, new byte[0]);
        LoopbackPair pair = nodes.connect(new ConnectionSpec().parameters(wants, grants));
        nodes.require(
                pair.requester()
                        .queuePair()
                        .connectionCapabilities()
                        .maxOutboundReads()
                        .isPresent(),
                "the provider cannot tell how many READs may be in flight");
        assertEquals(
                1,
                pair.requester()
                        .queuePair()
                        .connectionCapabilities()
                        .maxOutboundReads()
                        .orElseThrow());
        assertEquals(
                1,
                pair.responder()
                        .queuePair()
                        .connectionCapabilities()
                        .maxInboundReads()
                        .orElseThrow());
        assertEquals(
                2,
                pair.responder()
                        .queuePair()
                        .connectionCapabilities()
                        .maxOutboundReads()
                        .orElseThrow());
        assertTrue(pair.requester()
                        .queuePair()
                        .connectionCapabilities()
                        .maxInboundReads()
                        .orElseThrow()
                >= 2);
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (int i = 0; i < 64; i++) {
            pair.requester().read(i, sink, source);
        }
        for (int i = 0; i < 64; i++) {
            pair.requester().sends().expect(i, CompletionOpcode.READ, BYTES);
        }
    }

    @Test
    @ConformanceCase(
            number = 91,
            title = "the accepting side may speak first",
            source = "RFC 6581 section 4 (peer-to-peer connections); rdma_accept(3)")
    void shouldDeliverWhenTheAcceptingSideSpeaksFirst(TwoNodes nodes) {
        nodes.require(nodes.traits().has(Trait.PASSIVE_SIDE_MAY_SEND_FIRST), "the connecting side must speak first");
        MemoryRegion inbox = nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion source = nodes.responder().region(BYTES);
        for (int i = 0; i < nodes.times(20); i++) {
            LoopbackPair pair =
                    nodes.connect(new ConnectionSpec().beforeConnect(end -> end.receive(1, inbox, 0, BYTES)));
            pair.responder().send(2, source, 0, BYTES);
            pair.responder().sends().expect(2, CompletionOpcode.SEND, BYTES);
            pair.requester().receives().expect(1, CompletionOpcode.RECEIVE, BYTES);
            pair.requester().queuePair().close();
            pair.responder().queuePair().close();
        }
    }

    @Test
    @ConformanceCase(
            number = 92,
            title = "a peer that vanishes with 64 requests outstanding ends them all; reconnecting works",
            source = "rdma_disconnect(3); ibv_poll_cq(3)")
    void shouldEndEveryRequestWhenThePeerVanishes(TwoNodes nodes) {
        int length = 64 << 10;
        MemoryRegion source = nodes.responder().region(length, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
        LoopbackPair other = nodes.connect();
        for (int round = 0; round < nodes.times(5); round++) {
            LoopbackPair pair = nodes.connect();
            for (int i = 0; i < 64; i++) {
                pair.requester().read(i, sink, source);
            }
            pair.responder().queuePair().close();
            Refusals.expectSuccessesThenFlushes(
                    nodes,
                    pair.requester().sends().take(64, "READs of a peer that vanished"),
                    nodes.traits().peerGone(),
                    "READs of a peer that vanished");
            pair.requester().awaitError();
            other.barrier();
            nodes.connect().barrier();
        }
    }

    @Test
    @ConformanceCase(
            number = 260,
            title = "a request has the address, private data and READ depths of its peer",
            source = "rdma_get_cm_event(3) RDMA_CM_EVENT_CONNECT_REQUEST; RFC 6581 section 9")
    void shouldTellThePeersWishesWhenARequestArrives(TwoNodes nodes) {
        int most = nodes.requester().device().capabilities().maxPrivateData();
        byte[] data = randomBytes(nodes, Math.min(10, most));
        Task<Integer> looking = nodes.start("look", () -> {
            try (ConnectionRequest request =
                    nodes.listener().next(nodes.timeoutNs()).orElseThrow()) {
                expectPrivateData(nodes, data, request.privateData(), "the request");
                assertEquals(3, request.peerOutboundReads().orElse(3));
                assertEquals(5, request.peerInboundReads().orElse(5));
                assertFalse(request.remoteAddress().getAddress().isAnyLocalAddress(), "peer has no address");
                assertTrue(request.remoteAddress().getPort() > 0, "peer has no port");
                return 0; // Closing it rejects it.
            }
        });
        Active active = Active.to(nodes, nodes.responderAddress());
        ConnectionParameters wishes = new ConnectionParameters(3, 5, data);
        ConnectionRejectedException rejected = assertThrows(
                ConnectionRejectedException.class, () -> active.connector.connect(wishes, nodes.timeoutNs()));
        expectPrivateData(nodes, new byte[0], rejected.privateData(), "a refusal by closing");
        looking.get();
    }

    @Test
    @ConformanceCase(
            number = 264,
            title = "a request can be used once: one queue pair, one answer",
            source = "ConnectionRequest; rdma_accept(3)")
    void shouldRefuseASecondAnswerWhenARequestIsUsed(TwoNodes nodes) {
        Task<Integer> accepting = nodes.start("accept", () -> {
            try (ConnectionRequest request =
                    nodes.listener().next(nodes.timeoutNs()).orElseThrow()) {
                CompletionReader completions = nodes.responder().completions(64);
                ProtectionDomain domain = nodes.responder().domain();
                QueuePairAttributes attributes = QueuePairAttributes.of(completions.queue(), QueuePairLimits.of(4, 4));
                nodes.own(request.createQueuePair(domain, attributes));
                assertThrows(IllegalStateException.class, () -> request.createQueuePair(domain, attributes));
                request.accept(DEFAULT);
                assertThrows(IllegalStateException.class, () -> request.accept(DEFAULT));
                assertThrows(IllegalStateException.class, () -> request.reject(new byte[0]));
            }
            return 0;
        });
        Active active = Active.to(nodes, nodes.responderAddress());
        QueuePairAttributes attributes = QueuePairAttributes.of(active.completions.queue(), QueuePairLimits.of(4, 4));
        assertThrows(
                IllegalStateException.class,
                () -> active.connector.createQueuePair(nodes.requester().domain(), attributes));
        active.connector.connect(DEFAULT, nodes.timeoutNs());
        assertThrows(IllegalStateException.class, () -> active.connector.connect(DEFAULT, nodes.timeoutNs()));
        active.connector.close();
        accepting.get();
        assertEquals(QueuePairState.READY_TO_SEND, active.queuePair.state(), "closing a used connector does nothing");
    }

    @Test
    @ConformanceCase(
            number = 263,
            title = "connecting to a listener that never answers ends at its deadline; so does one interrupted",
            source = "Connector.connect; rdma_connect(3) ETIMEDOUT")
    void shouldEndAtTheDeadlineWhenNobodyAnswers(TwoNodes nodes) {
        Listener silent = nodes.own(nodes.responder()
                .device()
                .listen(new InetSocketAddress(nodes.settings().address(), 0), 8));
        Active timed = Active.to(nodes, silent.localAddress());
        long start = nodes.nanoTime();
        Refusals.expectCode(
                VerbsErrorCode.TIMED_OUT, () -> timed.connector.connect(DEFAULT, SHORT_NS), "connect, unanswered");
        long waited = nodes.nanoTime() - start;
        assertTrue(waited >= SHORT_NS / 2, "gave up after " + waited + " ns");
        assertTrue(waited < SHORT_NS + nodes.timeoutNs(), "gave up after " + waited + " ns only");
        assertEquals(QueuePairState.ERROR, timed.queuePair.state());
        Active interrupted = Active.to(nodes, silent.localAddress());
        try {
            Thread.currentThread().interrupt();
            Refusals.expectCode(
                    VerbsErrorCode.INTERRUPTED,
                    () -> interrupted.connector.connect(DEFAULT, nodes.timeoutNs()),
                    "connect, interrupted");
            assertTrue(Thread.currentThread().isInterrupted(), "the interrupt flag stays set");
        } finally {
            Thread.interrupted();
        }
        assertEquals(QueuePairState.ERROR, interrupted.queuePair.state());
    }

    @Test
    @ConformanceCase(
            number = 93,
            title = "many connections made, used and ended at the same time leave nothing behind",
            source = "zrlio/softiwarp and rxe bug reports; rdma_destroy_id(3)")
    void shouldLeaveNothingBehindWhenConnectionsComeAndGo(TwoNodes nodes) {
        int atOnce = 32;
        int rounds = nodes.times(10);
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        CompletionReader serverCompletions = nodes.responder().completions(4096);
        Task<Integer> server = nodes.start("serve", () -> {
            for (int i = 0; i < atOnce * rounds; i++) {
                try (ConnectionRequest request =
                        nodes.listener().next(nodes.timeoutNs()).orElseThrow()) {
                    nodes.own(request.createQueuePair(
                            nodes.responder().domain(),
                            QueuePairAttributes.of(serverCompletions.queue(), QueuePairLimits.of(4, 4))));
                    request.accept(DEFAULT);
                }
            }
            return 0;
        });
        boolean manual = nodes.requester().device().manualProgress();
        Task<?>[] clients = new Task<?>[manual ? 0 : atOnce];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = nodes.start("client-" + i, () -> connectAndRead(nodes, rounds, source, sink));
        }
        for (Task<?> client : clients) {
            client.get();
        }
        if (manual) {
            connectAndRead(nodes, atOnce * rounds, source, sink);
        }
        server.get();
    }

    private static int connectAndRead(TwoNodes nodes, int rounds, MemoryRegion source, MemoryRegion sink) {
        for (int i = 0; i < rounds; i++) {
            Active active = Active.to(nodes, nodes.responderAddress());
            active.connector.connect(DEFAULT, nodes.timeoutNs());
            active.queuePair.postRead(i, sink, 0, BYTES, source.address(), source.rkey(), 2);
            active.completions.expect(i, CompletionOpcode.READ, BYTES);
            active.queuePair.disconnect();
            active.queuePair.close();
            active.completions.close();
        }
        return rounds;
    }

    @Test
    @ConformanceCase(
            number = 300,
            title = "an abandoned connector moves its queue pair to ERROR; the two close in either order",
            source = "Connector; rdma_destroy_id(3), rdma_destroy_qp(3)")
    void shouldTakeTheQueuePairToErrorWhenGivenUp(TwoNodes nodes) {
        Active first = Active.to(nodes, nodes.responderAddress());
        first.queuePair.postReceive(1, nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK), 0, BYTES);
        first.connector.close();
        first.connector.close();
        assertEquals(QueuePairState.ERROR, first.queuePair.state());
        first.completions.expect(1, Set.of(CompletionStatus.FLUSHED), "RECV of a connector given up");
        assertThrows(IllegalStateException.class, () -> first.connector.connect(DEFAULT, nodes.timeoutNs()));
        first.queuePair.close();
        Active second = Active.to(nodes, nodes.responderAddress());
        second.queuePair.close();
        assertThrows(IllegalStateException.class, () -> second.connector.connect(DEFAULT, nodes.timeoutNs()));
        second.connector.close();
        nodes.linger(SHORT_NS / 10);
        assertEquals(Optional.empty(), nodes.listener().next(0), "something was sent");
    }

    @Test
    @ConformanceCase(
            number = 301,
            title = "connecting and accepting without a queue pair are refused",
            source = "Connector.connect, ConnectionRequest.accept; rdma_connect(3)")
    void shouldRefuseToConnectWhenThereIsNoQueuePair(TwoNodes nodes) {
        Connector without = nodes.own(nodes.requester().device().resolve(nodes.responderAddress(), nodes.timeoutNs()));
        assertThrows(IllegalStateException.class, () -> without.connect(DEFAULT, nodes.timeoutNs()));
        Task<Integer> accepting = nodes.start("accept", () -> {
            try (ConnectionRequest request =
                    nodes.listener().next(nodes.timeoutNs()).orElseThrow()) {
                assertThrows(IllegalStateException.class, () -> request.accept(DEFAULT));
            }
            return 0;
        });
        Active active = Active.to(nodes, nodes.responderAddress());
        assertThrows(ConnectionRejectedException.class, () -> active.connector.connect(DEFAULT, nodes.timeoutNs()));
        accepting.get();
    }

    @Test
    @ConformanceCase(
            number = 302,
            title = "READ on a connection that allows none is refused when posted, WRITE and SEND work",
            source = "QueuePair; RFC 6581 section 9 (ORD of 0)")
    void shouldRefuseToPostReadWhenTheConnectionAllowsNone(TwoNodes nodes) {
        ConnectionParameters none = ConnectionParameters.ofReads(0);
        LoopbackPair pair = nodes.connect(new ConnectionSpec().parameters(none, none));
        OptionalInt depth =
                pair.requester().queuePair().connectionCapabilities().maxOutboundReads();
        nodes.require(depth.isPresent() && depth.getAsInt() == 0, "the connection allows READs");
        MemoryRegion local = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE);
        assertThrows(IllegalStateException.class, () -> pair.requester().read(1, local, remote));
        pair.responder().receive(2, remote, 0, BYTES);
        pair.requester().send(3, local, 0, BYTES);
        pair.requester().sends().expect(3, CompletionOpcode.SEND, BYTES);
        pair.responder().receives().expect(2, CompletionOpcode.RECEIVE, BYTES);
        assertEquals(QueuePairState.READY_TO_SEND, pair.requester().queuePair().state());
    }

    @Test
    @ConformanceCase(
            number = 268,
            title = "a peer with nothing outstanding learns of the end of its connection",
            source = "rdma_disconnect(3); RFC 5044 section 7.1.4")
    void shouldTellAnIdlePeerWhenAQueuePairIsClosed(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        pair.responder().queuePair().close();
        pair.requester().awaitError();
        pair.requester().receive(1, nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK), 0, BYTES);
        pair.requester().receives().expect(1, Set.of(CompletionStatus.FLUSHED), "RECV after the end");
    }
}
