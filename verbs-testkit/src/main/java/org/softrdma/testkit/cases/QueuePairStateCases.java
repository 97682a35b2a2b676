package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.EnumSet;
import java.util.List;
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
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;

/** States and rights that the owner of a queue pair sets. */
@ExtendWith(TwoNodesExtension.class)
public final class QueuePairStateCases {
    private static final int BYTES = 256;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(16, 16);
    private static final Set<AccessFlag> EVERYTHING =
            EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
    /** 33 ms, once again. */
    private static final int TIMEOUT = 13;

    private static final Set<CompletionStatus> REFUSED = Set.of(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    private static final Set<CompletionStatus> UNANSWERED =
            Set.of(CompletionStatus.RETRY_EXCEEDED_ERROR, CompletionStatus.REMOTE_OPERATION_ERROR);

    /** Made by JUnit. */
    public QueuePairStateCases() {}

    private static Endpoint unconnected(TwoNodes nodes, boolean requester) {
        return nodes.unconnected(
                requester ? nodes.requester() : nodes.responder(), LIMITS, QueuePairType.RELIABLE_CONNECTION, 0);
    }

    private static void connect(Endpoint one, Endpoint other) {
        other.unconnected().connect(one.unconnected().address(), 4, 4);
        one.unconnected().connect(other.unconnected().address(), 4, 4);
    }

    private static void expectRefused(UnconnectedQueuePair queuePair, List<Runnable> steps) {
        QueuePairState state = queuePair.state();
        for (int i = 0; i < steps.size(); i++) {
            assertThrows(IllegalStateException.class, steps.get(i)::run, "step " + i + " from " + state);
            assertEquals(state, queuePair.state());
        }
    }

    private static void expectMessage(TwoNodes nodes, Endpoint from, Endpoint to, int wrId) {
        MemoryRegion outbox = from.node().region(BYTES, nodes.pattern());
        to.receive(wrId, to.node().region(BYTES, AccessFlag.RECEIVE_SINK), 0, BYTES);
        from.send(wrId + 1, outbox, 0, BYTES);
        from.sends().expect(wrId + 1, CompletionOpcode.SEND, 0);
        to.receives().expect(wrId, CompletionOpcode.RECEIVE, BYTES);
    }

    @Test
    @ConformanceCase(
            number = 41,
            title = "a READ is refused that the queue pair does not serve, though the region allows it",
            source = "ibv_modify_qp(3) qp_access_flags; IBTA 9.7.5.2.6")
    void shouldRefuseWhatTheQueuePairDoesNotServe(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        LoopbackPair pair = nodes.connectByAddresses(QueuePairType.RELIABLE_CONNECTION, LIMITS);
        UnconnectedQueuePair server = pair.responder().unconnected();
        BytePattern pattern = nodes.pattern();
        MemoryRegion shared = nodes.responder()
                .region(BYTES, pattern, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        pair.requester().read(1, sink, shared);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "READ while everything is served");
        assertThrows(IllegalArgumentException.class, () -> server.permit(EnumSet.of(AccessFlag.LOCAL_WRITE)));
        server.permit(EnumSet.of(AccessFlag.REMOTE_WRITE));
        pair.requester().write(2, sink, shared);
        pair.requester().sends().expect(2, CompletionOpcode.WRITE, 0);
        MemoryRegion clean = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        clean.memory().fill(BytePattern.POISON);
        pair.requester().read(3, clean, shared);
        pair.requester().sends().expect(3, REFUSED, "READ that the queue pair does not serve");
        BytePattern.requireAll(clean.memory(), BytePattern.POISON, "memory of the READ that was refused");
        pair.requester().awaitError();
    }

    @Test
    @ConformanceCase(
            number = 75,
            title = "a state that cannot follow is refused, and nothing has changed",
            source = "ibv_modify_qp(3); IBTA 10.3.1")
    void shouldRefuseAStateThatCannotFollow(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = unconnected(nodes, true);
        Endpoint other = unconnected(nodes, false);
        UnconnectedQueuePair pair = one.unconnected();
        QueuePairAddress peer = other.unconnected().address();
        MemoryRegion memory = nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK);
        Runnable receive = () -> pair.readyToReceive(ReceiveAttributes.of(peer, 1));
        Runnable send = () -> pair.readyToSend(SendAttributes.ofReads(1));
        Runnable initialise = () -> pair.initialise(EVERYTHING);
        expectRefused(pair, List.of(send, initialise, pair::drain, pair::resume));
        int number = pair.number();
        pair.reset();
        assertEquals(QueuePairState.RESET, pair.state());
        assertEquals(number, pair.number());
        expectRefused(
                pair,
                List.of(
                        receive,
                        send,
                        pair::drain,
                        pair::resume,
                        () -> pair.permit(EVERYTHING),
                        () -> pair.postReceive(1, memory, 0, 1),
                        () -> pair.postSend(1, memory, 0, 1, SendFlags.NONE)));
        initialise.run();
        assertEquals(QueuePairState.INITIAL, pair.state());
        expectRefused(pair, List.of(send, initialise, pair::drain, pair::resume));
        connect(one, other);
        expectRefused(pair, List.of(receive, send, initialise, pair::resume));
        expectMessage(nodes, one, other, 10);
        expectMessage(nodes, other, one, 20);
    }

    @Test
    @ConformanceCase(
            number = 76,
            title = "a send queue that is drained is told of once, and sends again when it is resumed",
            source = "ibv_modify_qp(3) IBV_QPS_SQD; ibv_get_async_event(3) IBV_EVENT_SQ_DRAINED; IBTA 10.3.1.4")
    void shouldDrainAndResume(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = unconnected(nodes, true);
        Endpoint other = unconnected(nodes, false);
        UnconnectedQueuePair pair = one.unconnected();
        connect(one, other);
        MemoryRegion outbox = nodes.requester().region(BYTES);
        MemoryRegion inbox = nodes.responder().region(2L * BYTES, AccessFlag.RECEIVE_SINK);
        AsyncEvent drained = new QueuePairEvent(pair, QueuePairEvent.Kind.SEND_QUEUE_DRAINED);
        boolean tells = nodes.requester().device().capabilities().has(Feature.ASYNC_EVENTS);
        Events events = tells ? new Events(nodes, nodes.requester()) : null;
        pair.drain();
        assertEquals(QueuePairState.SEND_QUEUE_DRAIN, pair.state());
        if (events != null) {
            events.expect(drained);
        }
        nodes.await("the send queue to be drained", () -> !pair.isDraining());
        expectRefused(pair, List.of(pair::drain));
        other.receive(1, inbox, 0, BYTES);
        other.receive(2, inbox, BYTES, BYTES);
        one.send(11, outbox, 0, BYTES);
        other.receives().expectNone("its peer's send queue is drained");
        // RECVs of a queue pair that is drained are filled.
        expectMessage(nodes, other, one, 20);
        pair.resume();
        assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        one.send(12, outbox, 0, BYTES); // rxe looks at its queue again when something is posted
        one.sends().expect(11, CompletionOpcode.SEND, 0);
        one.sends().expect(12, CompletionOpcode.SEND, 0);
        other.receives().expect(1, CompletionOpcode.RECEIVE, BYTES);
        other.receives().expect(2, CompletionOpcode.RECEIVE, BYTES);
        if (events != null) {
            events.expectNo(drained, "it was told of");
        }
    }

    @Test
    @ConformanceCase(
            number = 82,
            title = "a queue pair that was reset has forgotten what was posted, and connects again",
            source = "ibv_modify_qp(3) IBV_QPS_RESET; IBTA 10.3.1.1")
    void shouldConnectAgainWhenItWasReset(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = unconnected(nodes, true);
        Endpoint other = unconnected(nodes, false);
        connect(one, other);
        expectMessage(nodes, one, other, 10);
        MemoryRegion inbox = nodes.requester().region(2L * BYTES, AccessFlag.RECEIVE_SINK);
        // One end from ERROR, the other from RTS with a RECV that is never filled.
        one.receive(21, inbox, 0, BYTES);
        one.queuePair().disconnect();
        one.receives().expect(21, Set.of(CompletionStatus.FLUSHED), "a RECV of a queue pair in ERROR");
        assertEquals(QueuePairState.ERROR, one.queuePair().state());
        other.receive(22, nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK), 0, BYTES);
        for (Endpoint end : List.of(one, other)) {
            UnconnectedQueuePair pair = end.unconnected();
            pair.reset();
            assertThrows(IllegalStateException.class, pair::connectionCapabilities);
            assertFalse(pair.disconnected().toCompletableFuture().isDone(), "the end of a connection to come");
            pair.initialise(EVERYTHING);
        }
        connect(one, other);
        expectMessage(nodes, one, other, 30);
        expectMessage(nodes, other, one, 40);
        MemoryRegion source = nodes.responder().region(BYTES, nodes.pattern(), AccessFlag.REMOTE_READ);
        one.read(50, nodes.requester().region(BYTES, AccessFlag.READ_SINK), source);
        one.sends().expect(50, CompletionOpcode.READ, BYTES);
        other.receives().expectNone("what was posted before the reset is forgotten");
    }

    @Test
    @ConformanceCase(
            number = 85,
            title = "a READ of a peer in ERROR fails when its retries are used up",
            source = "rdma-unit-test RemoteRcQpState; IBTA 9.9.2.4.2")
    void shouldFailWhenThePeerIsInError(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.CONNECTION_BY_ADDRESS);
        Endpoint one = unconnected(nodes, true);
        Endpoint other = unconnected(nodes, false);
        other.unconnected().connect(one.unconnected().address(), 4, 4);
        one.unconnected()
                .readyToReceive(ReceiveAttributes.of(other.unconnected().address(), 4));
        one.unconnected().readyToSend(SendAttributes.ofReads(4).withTimeout(TIMEOUT, 1));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        one.read(1, sink, source);
        one.sends().expect(1, CompletionOpcode.READ, BYTES);
        other.queuePair().disconnect();
        nodes.await("the peer to be in ERROR", () -> other.queuePair().state() == QueuePairState.ERROR);
        one.read(2, sink, source);
        one.sends().expect(2, UNANSWERED, "READ of a peer in ERROR");
        nodes.await("the requester to be in ERROR", () -> one.queuePair().state() == QueuePairState.ERROR);
    }
}
