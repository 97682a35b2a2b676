package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.sim.roce.RoceEnds.accept;
import static org.softrdma.sim.roce.RoceEnds.connect;
import static org.softrdma.sim.roce.RoceEnds.expect;
import static org.softrdma.sim.roce.RoceEnds.expectFailed;
import static org.softrdma.sim.roce.RoceEnds.unconnected;
import static org.softrdma.sim.roce.RoceEnds.until;

import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;

/** States beyond the usual ones, which the owner of a queue pair sets: what goes on in them, and what is forgotten. */
@Timeout(60)
class QueuePairStatesTest {
    private static final int KEY = RoceEnds.QUEUE_KEY;
    private static final int DEPTH = 64;
    private static final Map<String, String> HERE = RoceEnds.HERE;
    private static final Set<AccessFlag> EVERYTHING =
            EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);

    private static void expectNone(RoceEnds.Side side) {
        assertEquals(0, side.queue.poll(WorkCompletion.array(1)));
    }

    // ---- SEND_QUEUE_DRAIN

    /** The first SEND has found no RECV, and is repeated; the others were not begun. */
    @Test
    void shouldCompleteWhatWasBegunAndHoldTheRest() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            connect(from, to);
            long before = ends.active.counter("roce.packetsSent");
            accept(from.postSend(1, ends.active.region, 0, 5, SendFlags.SIGNALLED));
            until(() -> ends.active.counter("roce.packetsSent") > before, "the first SEND is on its way");
            from.drain();
            assertTrue(from.isDraining());
            assertEquals(QueuePairState.SEND_QUEUE_DRAIN, from.state());
            SendAttributes other = SendAttributes.ofReads(4);
            assertThrows(IllegalStateException.class, () -> from.readyToSend(other));
            accept(from.postSend(2, ends.active.region, 0, 6, SendFlags.SIGNALLED));
            assertEquals(Optional.empty(), ends.active.device.awaitEvent(0));
            accept(to.postReceive(3, ends.passive.region, 0, 64));
            accept(to.postReceive(4, ends.passive.region, 0, 64));
            expect(1, ends.active);
            expect(3, ends.passive);
            AsyncEvent drained = new QueuePairEvent(from, QueuePairEvent.Kind.SEND_QUEUE_DRAINED);
            assertEquals(Optional.of(drained), ends.active.device.awaitEvent(RoceEnds.DEADLINE_NS));
            assertFalse(from.isDraining());
            // The peer is served, and a request of the peer comes behind what would have been sent.
            accept(from.postReceive(5, ends.active.region, 0, 64));
            accept(to.postSend(6, ends.passive.region, 0, 7, SendFlags.SIGNALLED));
            expect(5, ends.active);
            expect(6, ends.passive);
            expectNone(ends.passive);
            from.resume();
            assertEquals(QueuePairState.READY_TO_SEND, from.state());
            expect(4, ends.passive);
            expect(2, ends.active);
        }
    }

    @Test
    void shouldSendByOtherAttributesOnceItIsDrained() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            to.connect(from.address(), 4, 4);
            from.readyToReceive(ReceiveAttributes.of(to.address(), 4));
            from.readyToSend(SendAttributes.ofReads(0));
            RemoteRegion there = ends.passive.remote();
            accept(from.postWrite(1, ends.active.region, 0, 9, there.address(), there.rkey(), SendFlags.SIGNALLED));
            expect(1, ends.active);
            from.drain();
            until(() -> !from.isDraining(), "nothing is on its way");
            SendAttributes numbered = SendAttributes.ofReads(4).withSequence(7);
            assertThrows(IllegalArgumentException.class, () -> from.readyToSend(numbered));
            accept(from.postWrite(2, ends.active.region, 0, 9, there.address(), there.rkey(), SendFlags.SIGNALLED));
            ends.active.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
            from.readyToSend(SendAttributes.ofReads(4));
            assertEquals(OptionalInt.of(4), from.connectionCapabilities().maxOutboundReads());
            expect(2, ends.active);
            assertEquals(42, ends.passive.memory.get(ValueLayout.JAVA_BYTE, 0));
            accept(from.postRead(3, ends.active.region, 0, 9, there.address(), there.rkey(), SendFlags.SIGNALLED));
            expect(3, ends.active);
            to.disconnect();
            from.drain();
            until(() -> !from.isDraining(), "nothing is on its way");
            from.readyToSend(SendAttributes.ofReads(4).withTimeout(8, 2)); // 1 ms, twice: the device's own takes long
            accept(from.postWrite(4, ends.active.region, 0, 9, there.address(), there.rkey(), SendFlags.SIGNALLED));
            expectFailed(4, CompletionStatus.RETRY_EXCEEDED_ERROR, ends.active);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairType.class,
            names = {"UNRELIABLE_CONNECTION", "UNRELIABLE_DATAGRAM"})
    void shouldHoldUnreliableMessagesWhileItIsDrained(QueuePairType type) {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, type);
                UnconnectedQueuePair to = unconnected(ends.passive, type);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host())) {
            if (type == QueuePairType.UNRELIABLE_CONNECTION) {
                connect(from, to);
            }
            accept(to.postReceive(1, ends.passive.region, 0, 64));
            from.drain();
            until(() -> !from.isDraining(), "nothing was begun");
            long sent = ends.active.counter("roce.packetsSent");
            accept(from.post(message(2, ends.active, type, host, to)));
            from.permit(EVERYTHING); // the engine does this behind the doorbell of the post
            expectNone(ends.active);
            assertEquals(sent, ends.active.counter("roce.packetsSent"));
            from.resume();
            expect(2, ends.active);
            expect(1, ends.passive);
        }
    }

    private static SendWorkRequest message(
            long wrId, RoceEnds.Side from, QueuePairType type, AddressHandle host, UnconnectedQueuePair to) {
        SendWorkRequest request = new SendWorkRequest().send(wrId, SendFlags.SIGNALLED);
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            request.to(host, to.number(), KEY);
        }
        return request.add(from.region.address(), 5, from.region.lkey());
    }

    // ---- SEND_QUEUE_ERROR

    /** The request has no memory that may be read: it fails, those behind it are flushed, and RECVs go on. */
    @ParameterizedTest
    @EnumSource(
            value = QueuePairType.class,
            names = {"UNRELIABLE_CONNECTION", "UNRELIABLE_DATAGRAM"})
    void shouldStopTheSendQueueAloneWhenAnUnreliableRequestFails(QueuePairType type) {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, type);
                UnconnectedQueuePair to = unconnected(ends.passive, type);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host());
                AddressHandle back =
                        ends.passive.domain.createAddressHandle(from.address().host())) {
            if (type == QueuePairType.UNRELIABLE_CONNECTION) {
                connect(from, to);
            }
            SendWorkRequest bad = new SendWorkRequest().send(1, SendFlags.NONE);
            if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
                bad.to(host, to.number(), KEY);
            }
            accept(from.postReceive(2, ends.active.region, 0, 64));
            accept(from.post(bad.add(ends.active.region.address(), 5, 0xBAD)));
            expectFailed(1, CompletionStatus.LOCAL_PROTECTION_ERROR, ends.active);
            assertEquals(QueuePairState.SEND_QUEUE_ERROR, from.state());
            accept(from.post(message(3, ends.active, type, host, to)));
            expectFailed(3, CompletionStatus.FLUSHED, ends.active);
            accept(to.post(message(4, ends.passive, type, back, from)));
            expect(4, ends.passive);
            expect(2, ends.active);
            assertThrows(IllegalStateException.class, from::drain);
            from.resume();
            assertEquals(QueuePairState.READY_TO_SEND, from.state());
            accept(to.postReceive(5, ends.passive.region, 0, 64));
            accept(from.post(message(6, ends.active, type, host, to)));
            expect(6, ends.active);
            expect(5, ends.passive);
            from.disconnect();
            assertEquals(QueuePairState.ERROR, from.state());
        }
    }

    // ---- RESET

    @Test
    void shouldForgetWhatWasPostedWhenItIsReset() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            connect(from, to);
            CompletableFuture<String> told = from.disconnected().toCompletableFuture();
            QueuePairAddress before = from.address();
            long closed = ends.active.counter("connectionsClosed");
            fill(from, ends.active); // the peer has no RECV: nothing of it completes
            from.reset();
            assertEquals("reset by this side", told.get());
            assertEquals(closed + 1, ends.active.counter("connectionsClosed"));
            assertEquals(before.number(), from.address().number());
            assertNotEquals(before.sequence(), from.address().sequence());
            from.initialise(EVERYTHING);
            to.reset();
            to.initialise(EVERYTHING);
            connect(from, to);
            fill(from, ends.active); // every slot is free again
            for (int i = 0; i < DEPTH; i++) {
                accept(to.postReceive(i, ends.passive.region, 0, 64));
            }
            for (int i = 0; i < DEPTH; i++) {
                expect(i, ends.passive);
                expect(DEPTH + i, ends.active);
            }
            expectNone(ends.active);
            expectNone(ends.passive);
        }
    }

    private static void fill(UnconnectedQueuePair pair, RoceEnds.Side side) {
        for (int i = 0; i < DEPTH; i++) {
            accept(pair.postReceive(i, side.region, 0, 64));
            accept(pair.postSend(DEPTH + i, side.region, 0, 5, SendFlags.SIGNALLED));
        }
        assertEquals(PostStatus.QUEUE_FULL, pair.postReceive(0, side.region, 0, 64));
        assertEquals(PostStatus.QUEUE_FULL, pair.postSend(0, side.region, 0, 5, SendFlags.SIGNALLED));
    }

    /** Also one that was never connected, and one in ERROR. */
    @Test
    void shouldDropPacketsOfAPeerThatItHasForgotten() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_CONNECTION)) {
            to.reset();
            to.initialise(EVERYTHING);
            connect(from, to);
            to.disconnect();
            to.reset();
            to.initialise(EVERYTHING);
            accept(to.postReceive(1, ends.passive.region, 0, 64));
            accept(from.postSend(2, ends.active.region, 0, 5, SendFlags.NONE));
            until(() -> ends.passive.counter("roce.unknownQueuePair") == 1, "its packet is for nobody");
            from.reset();
            from.initialise(EVERYTHING);
            connect(from, to);
            accept(from.postSend(3, ends.active.region, 0, 6, SendFlags.SIGNALLED));
            expect(3, ends.active);
            expect(1, ends.passive);
        }
    }

    @Test
    void shouldTakeDatagramsAgainOnceItIsInitialised() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host())) {
            accept(to.postReceive(1, ends.passive.region, 0, 64));
            to.reset();
            assertThrows(IllegalStateException.class, () -> to.postReceive(1, ends.passive.region, 0, 64));
            accept(from.post(message(2, ends.active, QueuePairType.UNRELIABLE_DATAGRAM, host, to)));
            expect(2, ends.active);
            until(() -> ends.passive.counter("roce.unknownQueuePair") == 1, "a datagram for one in RESET is dropped");
            to.initialise(Set.of());
            assertEquals(QueuePairState.READY_TO_SEND, to.state());
            accept(to.postReceive(3, ends.passive.region, 0, 64));
            accept(from.post(message(4, ends.active, QueuePairType.UNRELIABLE_DATAGRAM, host, to)));
            expect(4, ends.active);
            expect(3, ends.passive);
        }
    }

    /** The RECV that a message has begun to fill is free again for others. */
    @Test
    void shouldGiveBackTheSharedReceiveThatAMessageHasBegun() throws Exception {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                SharedReceiveQueue shared = ends.passive.domain.createSharedReceiveQueue(1, 1);
                UnconnectedQueuePair to = ends.passive.domain.createQueuePair(ends.passive
                        .attributes()
                        .withSharedReceives(shared)
                        .withType(QueuePairType.UNRELIABLE_CONNECTION));
                RawRocePeer peer = new RawRocePeer(
                        new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), RoceEnds.freePort()),
                        to.address().host(),
                        1,
                        1)) {
            while (shared.postReceive(1, ends.passive.region, 0, 4096) == PostStatus.ACCEPTED) {
                // Until it is full.
            }
            to.readyToReceive(ReceiveAttributes.of(
                    new QueuePairAddress(
                            new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), peer.port()),
                            RawRocePeer.QUEUE_PAIR,
                            100,
                            1024),
                    1));
            long taken = ends.passive.counter("roce.packetsReceived");
            sendFirst(peer, to.number(), 100);
            until(() -> ends.passive.counter("roce.packetsReceived") > taken, "the message has begun");
            assertEquals(PostStatus.QUEUE_FULL, shared.postReceive(2, ends.passive.region, 0, 4096));
            to.reset();
            accept(shared.postReceive(2, ends.passive.region, 0, 4096));
            assertEquals(PostStatus.QUEUE_FULL, shared.postReceive(2, ends.passive.region, 0, 4096));
        }
    }

    private static void sendFirst(RawRocePeer from, int number, int psn) {
        int opcode = RoceOpcode.UC | RoceOpcode.SEND_FIRST;
        long at = from.packet();
        Bth.put(at, opcode, 0, 1024, number, psn);
        from.send(RocePacket.length(opcode, 1024));
    }

    // ---- rights

    @Test
    void shouldDropAnUnreliableWriteThatItDoesNotServe() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_CONNECTION)) {
            to.reset();
            to.initialise(Set.of());
            connect(from, to);
            RemoteRegion there = ends.passive.remote();
            accept(from.postWrite(1, ends.active.region, 0, 9, there.address(), there.rkey(), SendFlags.NONE));
            until(() -> ends.passive.counter("roce.accessRefused") == 1, "a WRITE that is not served is dropped");
            to.permit(EVERYTHING);
            accept(to.postReceive(2, ends.passive.region, 0, 64));
            accept(from.postWriteImmediate(
                    3, ends.active.region, 0, 9, there.address(), there.rkey(), 17, SendFlags.NONE));
            WorkCompletion received = ends.passive.next();
            assertEquals(17, received.immediate());
            assertSame(QueuePairState.READY_TO_SEND, to.state());
        }
    }

    @Test
    void shouldTellOfARequestThatItDoesNotServe() {
        try (RoceEnds ends = new RoceEnds("epoll", HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
            to.permit(EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
            connect(from, to);
            RemoteRegion there = ends.passive.remote();
            accept(from.postFetchAndAdd(
                    1, ends.active.region, 0, there.address(), there.rkey(), 1, SendFlags.SIGNALLED));
            expectFailed(1, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR, ends.active);
            AsyncEvent refused = new QueuePairEvent(to, QueuePairEvent.Kind.REQUEST_ERROR);
            assertEquals(Optional.of(refused), ends.passive.device.awaitEvent(RoceEnds.DEADLINE_NS));
            until(() -> to.state() == QueuePairState.ERROR, "it goes to ERROR");
        }
    }
}
