package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Several queue pairs take RECVs from one queue: whose each was, one of them in error, limits, and closing. */
@Timeout(60)
class SharedReceiveQueueTest {
    private static FakePair pair(boolean iwarp) {
        return new FakePair(new FakeVerbsLibrary("fake0", iwarp));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveEachMessageARecvOfItsOwn(boolean iwarp) throws Exception {
        try (FakePair pair = pair(iwarp)) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(4, 2));
            assertTrue(receives.maxWorkRequests() >= 4 && receives.maxScatterGather() >= 2);
            ConnectedPair first = pair.connect(receives);
            ConnectedPair second = pair.connect(receives);
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK);
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);
            for (int round = 0; round < 100; round++) {
                assertEquals(PostStatus.ACCEPTED, receives.postReceive(10L + round, inbox, 0, 8));
                assertEquals(
                        PostStatus.ACCEPTED,
                        receives.post(new ReceiveWorkRequest()
                                .receive(20L + round)
                                .add(inbox, 8, 4)
                                .add(inbox, 12, 4)));

                second.connecting().postSend(1, source, 0, 8, SendFlags.SIGNALLED);
                assertEquals(8, pair.success(second.accepting(), 10 + round).byteLength());
                pair.success(second.connecting(), 1);
                first.connecting().postSend(2, source, 0, 6, SendFlags.SIGNALLED);
                assertEquals(6, pair.success(first.accepting(), 20 + round).byteLength());
                pair.success(first.connecting(), 2);
            }
            assertThrows(IllegalStateException.class, () -> first.accepting().postReceive(1, inbox, 0, 8));
        }
    }

    /** libsiw refuses a RECV without entries. */
    @Test
    void shouldTakeARecvOfNoBytesOnSiw() throws Exception {
        try (FakePair pair = pair(true)) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(4, 1));
            assertEquals(PostStatus.ACCEPTED, receives.post(new ReceiveWorkRequest().receive(1)));
        }
    }

    @Test
    void shouldBeFullUntilACompletionIsPolled() throws Exception {
        try (FakePair pair = pair(false)) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(3, 1));
            ConnectedPair connection = pair.connect(receives);
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK);
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);
            for (int i = 0; i < receives.maxWorkRequests(); i++) {
                assertEquals(PostStatus.ACCEPTED, receives.postReceive(i, inbox, 0, 8));
            }
            assertEquals(PostStatus.QUEUE_FULL, receives.postReceive(9, inbox, 0, 8));
            connection.connecting().postSend(1, source, 0, 8, SendFlags.NONE);
            assertEquals(PostStatus.QUEUE_FULL, receives.postReceive(9, inbox, 0, 8), "not polled yet");
            pair.success(connection.accepting(), 0);
            assertEquals(PostStatus.ACCEPTED, receives.postReceive(9, inbox, 0, 8));
        }
    }

    @Test
    void shouldGoOnWhenOneQueuePairIsInError() throws Exception {
        try (FakePair pair = pair(false)) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(8, 1));
            ConnectedPair broken = pair.connect(receives);
            ConnectedPair other = pair.connect(receives);
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK);
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);
            receives.postReceive(1, inbox, 0, 4);
            receives.postReceive(2, inbox, 0, 8);

            broken.connecting().postSend(7, source, 0, 8, SendFlags.NONE); // too long for RECV 1
            assertEquals(CompletionStatus.LOCAL_LENGTH_ERROR, receive(pair, broken, 1));
            broken.end();
            assertEquals(QueuePairState.ERROR, broken.accepting().state());
            AsyncEvent last = new QueuePairEvent(broken.accepting(), QueuePairEvent.Kind.LAST_REQUEST_REACHED);
            AsyncEvent event = pair.device.awaitEvent(FakePair.TIMEOUT_NS).orElseThrow();
            while (!event.equals(last)) { // the other end shares them too
                event = pair.device.awaitEvent(FakePair.TIMEOUT_NS).orElseThrow();
            }

            other.connecting().postSend(3, source, 0, 8, SendFlags.NONE);
            assertEquals(CompletionStatus.SUCCESS, receive(pair, other, 2));
        }
    }

    /** The status of a RECV, past the completions of the side that sent. */
    private static CompletionStatus receive(FakePair pair, ConnectedPair of, long wrId) {
        while (true) {
            var completion = pair.completion();
            if (completion.qpNumber() == of.accepting().number()) {
                assertEquals(wrId, completion.wrId());
                return completion.status();
            }
        }
    }

    @Test
    void shouldTellOnceThatTheLimitIsReached() throws Exception {
        try (FakePair pair = pair(false)) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(8, 1));
            ConnectedPair connection = pair.connect(receives);
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK);
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);
            AsyncEvent reached = new SharedReceiveQueueEvent(receives, SharedReceiveQueueEvent.Kind.LIMIT_REACHED);
            for (int i = 0; i < 4; i++) {
                receives.postReceive(i, inbox, 0, 8);
            }
            receives.arm(3);
            connection.connecting().postSend(1, source, 0, 8, SendFlags.NONE); // 3 left
            pair.success(connection.accepting(), 0);
            assertEquals(Optional.empty(), pair.device.awaitEvent(0));
            connection.connecting().postSend(1, source, 0, 8, SendFlags.NONE); // 2 left
            connection.connecting().postSend(1, source, 0, 8, SendFlags.NONE); // 1 left
            pair.success(connection.accepting(), 1);
            pair.success(connection.accepting(), 2);
            assertEquals(Optional.of(reached), pair.device.awaitEvent(FakePair.TIMEOUT_NS));

            // A device looks only when it takes a RECV, and now nobody will.
            receives.arm(2);
            assertEquals(Optional.of(reached), pair.device.awaitEvent(0));
            receives.arm(1);
            receives.arm(0);
            connection.connecting().postSend(1, source, 0, 8, SendFlags.NONE); // none left
            pair.success(connection.accepting(), 3);
            assertEquals(Optional.empty(), pair.device.awaitEvent(0));
            assertThrows(IllegalArgumentException.class, () -> receives.arm(receives.maxWorkRequests() + 1));
            assertThrows(IllegalArgumentException.class, () -> receives.arm(-1));
        }
    }

    @Test
    void shouldStayOpenWhileAQueuePairUsesIt() throws Exception {
        try (FakePair pair = pair(false);
                FakePair other = pair(false)) {
            SharedReceiveQueue receives = pair.domain.createSharedReceiveQueue(8, 1);
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK);
            try (ConnectedPair using = ConnectedPair.of(
                    pair.device,
                    pair.domain,
                    QueuePairAttributes.of(pair.queue, QueuePairLimits.of(4, 1_000_000))
                            .withSharedReceives(receives))) {
                assertEquals(
                        VerbsErrorCode.BUSY,
                        assertThrows(VerbsException.class, receives::close).code());
                assertEquals(QueuePairState.READY_TO_SEND, using.connecting().state());
                receives.postReceive(1, inbox, 0, 8);
            }
            VerbsException busy = assertThrows(VerbsException.class, pair.domain::close);
            assertTrue(String.valueOf(busy.getMessage()).contains("1 shared receive queues"), busy::getMessage);
            receives.close();
            receives.close();
            assertThrows(IllegalStateException.class, () -> receives.postReceive(1, inbox, 0, 8));
            assertThrows(IllegalStateException.class, () -> receives.arm(1));
            SharedReceiveQueue foreign = other.own(other.domain.createSharedReceiveQueue(8, 1));
            assertThrows(IllegalArgumentException.class, () -> pair.connect(foreign));
            assertThrows(IllegalArgumentException.class, () -> pair.domain.createSharedReceiveQueue(0, 1));
            assertThrows(IllegalArgumentException.class, () -> pair.domain.createSharedReceiveQueue(1001, 1));
            assertThrows(IllegalArgumentException.class, () -> pair.domain.createSharedReceiveQueue(1, 7));
        }
    }

    /** Its completion stays in the queue and belongs to nobody; the place of the RECV is free again. */
    @Test
    void shouldFreeThePlaceOfARecvWhoseQueuePairIsClosed() throws Exception {
        try (FakePair pair = pair(false)) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(1, 1));
            MemoryRegion inbox = pair.region(64, AccessFlag.RECEIVE_SINK);
            MemoryRegion source = pair.region(64, AccessFlag.LOCAL_WRITE);
            ConnectedPair stays = pair.connect(receives);
            for (int i = 0; i < 5; i++) {
                ConnectedPair closed = ConnectedPair.of(
                        pair.device,
                        pair.domain,
                        QueuePairAttributes.of(pair.queue, QueuePairLimits.of(4, 4))
                                .withSharedReceives(receives));
                assertEquals(PostStatus.ACCEPTED, receives.postReceive(i, inbox, 0, 8));
                closed.connecting().postSend(1, source, 0, 8, SendFlags.NONE);
                closed.close();
                assertEquals(PostStatus.ACCEPTED, receives.postReceive(100 + i, inbox, 0, 8));
                stays.connecting().postSend(1, source, 0, 8, SendFlags.NONE);
                pair.success(stays.accepting(), 100 + i);
            }
        }
    }
}
