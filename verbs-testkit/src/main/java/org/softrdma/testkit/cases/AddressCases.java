package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Connector;

/** Reliable connections that the application makes by addresses, without a connection manager. */
@ExtendWith(TwoNodesExtension.class)
public final class AddressCases {
    private static final int BYTES = 1 << 14;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(16, 16);

    /** Made by JUnit. */
    public AddressCases() {}

    @Test
    @ConformanceCase(
            number = 408,
            title = "a reliable connection by addresses reads, writes and sends as one of the connection manager",
            source = "ibv_modify_qp(3); ibv_rc_pingpong(1)")
    void shouldMoveDataWhenConnectedByAddresses(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        LoopbackPair pair = nodes.connectByAddresses(QueuePairType.RELIABLE_CONNECTION, LIMITS);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        pair.requester().read(1, sink, source);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "READ");
        pair.requester().write(2, sink, target);
        pair.requester().sends().expect(2, CompletionOpcode.WRITE, 0);
        pattern.require(target.memory(), "WRITE");
        pair.responder().receive(3, target, 0, BYTES);
        pair.requester().send(4, sink, 0, 5);
        pair.requester().sends().expect(4, CompletionOpcode.SEND, 0);
        pair.responder().receives().expect(3, CompletionOpcode.RECEIVE, 5);
        pair.requester().receive(5, sink, 0, BYTES);
        pair.responder().send(6, source, 0, BYTES);
        pair.responder().sends().expect(6, CompletionOpcode.SEND, 0);
        pair.requester().receives().expect(5, CompletionOpcode.RECEIVE, BYTES);
        pair.barrier();
    }

    @Test
    @ConformanceCase(
            number = 409,
            title = "a READ by a bad key ends a reliable connection by addresses at both ends",
            source = "IBTA 9.9.2; ibv_modify_qp(3)")
    void shouldEndWhenThePeerRefuses(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        LoopbackPair pair = nodes.connectByAddresses(QueuePairType.RELIABLE_CONNECTION, LIMITS);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        pair.requester().read(1, sink, 0, 8, 0, 0xDEADBEEF);
        pair.requester().sends().expect(1, nodes.traits().readRefused(), "READ by a bad key");
        pair.requester().awaitError();
        pair.requester().send(2, sink, 0, 1);
        pair.requester().sends().expect(2, Set.of(CompletionStatus.FLUSHED), "a SEND posted in ERROR");
        // What it posts now finds a peer in ERROR: no connection manager has told it.
        pair.responder().send(3, nodes.responder().region(8), 0, 1);
        assertTrue(!pair.responder().sends().next("a SEND to a peer in ERROR").isSuccess());
        pair.responder().awaitError();
    }

    @Test
    @ConformanceCase(
            number = 410,
            title = "before it is connected by an address a queue pair takes RECVs only, and it is connected once",
            source = "ibv_modify_qp(3): RESET, INIT, RTR, RTS; ibv_post_recv(3)")
    void shouldTakeReceivesOnlyBeforeItIsConnected(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = nodes.unconnected(nodes.requester(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        Endpoint other = nodes.unconnected(nodes.responder(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        MemoryRegion source = nodes.requester().region(8);
        MemoryRegion inbox = nodes.responder().region(8, AccessFlag.RECEIVE_SINK);
        QueuePair queuePair = one.queuePair();
        assertEquals(QueuePairState.INITIAL, queuePair.state());
        assertEquals(QueuePairType.RELIABLE_CONNECTION, queuePair.type());
        assertThrows(IllegalStateException.class, () -> queuePair.postSend(1, source, 0, 1, SendFlags.SIGNALLED));
        assertThrows(IllegalStateException.class, queuePair::connectionCapabilities);
        other.receive(2, inbox, 0, 8);
        QueuePairAddress address = other.unconnected().address();
        assertEquals(other.queuePair().number(), address.number());
        assertNotEquals(one.unconnected().address(), address);
        assertThrows(IllegalArgumentException.class, () -> one.unconnected().connect(address, -1, 1));
        other.unconnected().connect(one.unconnected().address(), 1, 1);
        one.unconnected().connect(address, 1, 1);
        assertEquals(QueuePairState.READY_TO_SEND, queuePair.state());
        assertEquals(OptionalInt.of(1), queuePair.connectionCapabilities().maxOutboundReads());
        assertThrows(IllegalStateException.class, () -> one.unconnected().connect(address, 1, 1));
        one.send(3, source, 0, 8);
        one.sends().expect(3, CompletionOpcode.SEND, 0);
        other.receives().expect(2, CompletionOpcode.RECEIVE, 8);
    }

    @Test
    @ConformanceCase(
            number = 412,
            title =
                    "a reliable connection that is ready to receive serves its peer, and sends once it is ready to send",
            source = "ibv_modify_qp(3): RTR, RTS; IBTA 10.3.1")
    void shouldServeItsPeerBeforeItIsReadyToSend(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = nodes.unconnected(nodes.requester(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        Endpoint other = nodes.unconnected(nodes.responder(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        shouldReceiveFirst(nodes, one, other);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        one.read(1, sink, source);
        one.sends().expect(1, CompletionOpcode.READ, BYTES);
        one.write(2, sink, target);
        one.sends().expect(2, CompletionOpcode.WRITE, 0);
        pattern.require(target.memory(), "WRITE to a queue pair that is ready to receive");
        shouldSendAfterwards(nodes, one, other);
        assertEquals(
                OptionalInt.of(1), other.queuePair().connectionCapabilities().maxOutboundReads());
    }

    @Test
    @ConformanceCase(
            number = 413,
            title = "an unreliable connection that is ready to receive takes SENDs, and sends once it is ready to send",
            source = "ibv_modify_qp(3): RTR, RTS; IBTA 10.3.1")
    void shouldTakeSendsBeforeItIsReadyToSend(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.UNRELIABLE_CONNECTION);
        Endpoint one = nodes.unconnected(nodes.requester(), LIMITS, QueuePairType.UNRELIABLE_CONNECTION, 0);
        Endpoint other = nodes.unconnected(nodes.responder(), LIMITS, QueuePairType.UNRELIABLE_CONNECTION, 0);
        shouldReceiveFirst(nodes, one, other);
        shouldSendAfterwards(nodes, one, other);
    }

    private static void shouldReceiveFirst(TwoNodes nodes, Endpoint one, Endpoint other) {
        UnconnectedQueuePair receiver = other.unconnected();
        MemoryRegion outbox = nodes.requester().region(8);
        MemoryRegion inbox = nodes.responder().region(8, AccessFlag.RECEIVE_SINK);
        ReceiveAttributes peer = ReceiveAttributes.of(one.unconnected().address(), 1);
        other.receive(11, inbox, 0, 8);
        assertThrows(IllegalStateException.class, () -> receiver.readyToSend(SendAttributes.ofReads(1)));
        receiver.readyToReceive(peer);
        assertEquals(QueuePairState.READY_TO_RECEIVE, receiver.state());
        assertThrows(IllegalStateException.class, () -> receiver.readyToReceive(peer));
        assertThrows(IllegalStateException.class, receiver::connectionCapabilities);
        one.unconnected().connect(receiver.address(), 1, 1);
        one.send(12, outbox, 0, 8);
        one.sends().expect(12, CompletionOpcode.SEND, 0);
        other.receives().expect(11, CompletionOpcode.RECEIVE, 8);
        assertThrows(IllegalStateException.class, () -> receiver.postSend(13, inbox, 0, 8, SendFlags.SIGNALLED));
    }

    private static void shouldSendAfterwards(TwoNodes nodes, Endpoint one, Endpoint other) {
        UnconnectedQueuePair sender = other.unconnected();
        MemoryRegion outbox = nodes.responder().region(8);
        one.receive(21, nodes.requester().region(8, AccessFlag.RECEIVE_SINK), 0, 8);
        sender.readyToSend(SendAttributes.ofReads(1));
        assertEquals(QueuePairState.READY_TO_SEND, sender.state());
        assertThrows(IllegalStateException.class, () -> sender.readyToSend(SendAttributes.ofReads(1)));
        other.send(22, outbox, 0, 8);
        other.sends().expect(22, CompletionOpcode.SEND, 0);
        one.receives().expect(21, CompletionOpcode.RECEIVE, 8);
    }

    @Test
    @ConformanceCase(
            number = 414,
            title = "a queue pair begins with the sequence that its owner sets, and counts on from 2^24 - 1",
            source = "ibv_modify_qp(3): IBV_QP_SQ_PSN, IBV_QP_RQ_PSN; IBTA 9.7.2")
    void shouldBeginWithTheSequenceOfItsOwner(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = nodes.unconnected(nodes.requester(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        Endpoint other = nodes.unconnected(nodes.responder(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        QueuePairAddress drawn = one.unconnected().address();
        int sequence = (1 << 24) - 1;
        QueuePairAddress told = new QueuePairAddress(drawn.host(), drawn.number(), sequence, drawn.maxTransferUnit());
        MemoryRegion outbox = nodes.requester().region(8);
        MemoryRegion inbox = nodes.responder().region(16, AccessFlag.RECEIVE_SINK);
        other.receive(1, inbox, 0, 8);
        other.receive(2, inbox, 8, 8);
        other.unconnected().readyToReceive(ReceiveAttributes.of(told, 1));
        one.unconnected()
                .readyToReceive(ReceiveAttributes.of(other.unconnected().address(), 1));
        one.unconnected().readyToSend(SendAttributes.ofReads(1).withSequence(sequence));
        for (int i = 1; i <= 2; i++) {
            one.send(i, outbox, 0, 8);
            one.sends().expect(i, CompletionOpcode.SEND, 0);
            other.receives().expect(i, CompletionOpcode.RECEIVE, 8);
        }
    }

    @Test
    @ConformanceCase(
            number = 415,
            title =
                    "a queue pair that is ready to receive can be disconnected: its RECVs are flushed, and its owner is told",
            source = "ibv_modify_qp(3): IBV_QPS_ERR")
    void shouldFlushWhenDisconnectedBeforeItIsReadyToSend(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = nodes.unconnected(nodes.requester(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        Endpoint other = nodes.unconnected(nodes.responder(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
        CompletableFuture<String> told = other.queuePair().disconnected().toCompletableFuture();
        other.receive(1, nodes.responder().region(8, AccessFlag.RECEIVE_SINK), 0, 8);
        other.unconnected()
                .readyToReceive(ReceiveAttributes.of(one.unconnected().address(), 1));
        other.queuePair().disconnect();
        other.receives().expect(1, Set.of(CompletionStatus.FLUSHED), "a RECV of a queue pair that was disconnected");
        nodes.await("the owner to be told", told::isDone);
        assertEquals(QueuePairState.ERROR, other.queuePair().state());
        VerbsException lost =
                assertThrows(VerbsException.class, () -> other.unconnected().readyToSend(SendAttributes.ofReads(1)));
        assertEquals(VerbsErrorCode.CONNECTION_LOST, lost.code(), lost.getMessage());
    }

    @Test
    @ConformanceCase(
            number = 411,
            title = "the connection manager makes no unreliable queue pairs, and says so",
            source = "rdma_create_qp(3)")
    void shouldRefuseUnreliableTypesOfAConnector(TwoNodes nodes) {
        for (QueuePairType type :
                new QueuePairType[] {QueuePairType.UNRELIABLE_CONNECTION, QueuePairType.UNRELIABLE_DATAGRAM}) {
            QueuePairAttributes attributes = QueuePairAttributes.of(
                            nodes.requester().completions(2).queue(), QueuePairLimits.of(1, 1))
                    .withType(type);
            try (Connector connector =
                    nodes.requester().device().resolve(nodes.responderAddress(), nodes.timeoutNs())) {
                VerbsException refused = assertThrows(
                        VerbsException.class,
                        () -> connector.createQueuePair(nodes.requester().domain(), attributes));
                assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code(), refused.getMessage());
                assertTrue(String.valueOf(refused.getMessage()).contains(type.name()), refused::getMessage);
            }
        }
    }
}
