package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import java.util.Set;
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
import org.softrdma.verbs.SendFlags;
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
