package org.softrdma.disni.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.atLeast;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mockingDetails;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.timeout;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.ArgumentCaptor;
import org.mockito.InOrder;
import org.softrdma.disni.device.MockedDisni.Completion;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Posting and polling: calls prepared once, completions that find their request, full queues, flushing, events,
 * closing in every state.
 */
class PostAndPollTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int FLUSHED = 5;
    private static final int BYTES = 64;
    private static final int SENDS = 4;

    private final MockedDisni disni = new MockedDisni();

    /** One connected queue pair and what it needs. */
    private final class Connection implements AutoCloseable {
        private final VerbsDevice device;
        private final ProtectionDomain domain;
        private final CompletionChannel channel;
        private final CompletionQueue completions;
        private final HostMemory memory;
        private final MemoryRegion region;
        private final Connector connector;
        private final QueuePair pair;
        private final DisniLibrary.Id id;
        private final WorkCompletion[] polled = WorkCompletion.array(8);

        Connection(WireProtocol transport, boolean connected) {
            device = disni.device(transport);
            domain = device.allocateProtectionDomain();
            channel = device.createCompletionChannel();
            completions = device.createCompletionQueue(8, channel, 0);
            memory = device.allocateMemory(BYTES);
            region = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE));
            connector = device.resolve(MockedDisni.PEER, LONG_NS);
            id = disni.last();
            pair = connector.createQueuePair(domain, attributes());
            if (connected) {
                connector.connect(ConnectionParameters.DEFAULT, LONG_NS);
            }
        }

        private QueuePairAttributes attributes() {
            return new QueuePairAttributes(completions, completions, new QueuePairLimits(SENDS, 2, 4, 4, BYTES), false);
        }

        /** One more connected queue pair on the same completion queue. */
        QueuePair another() {
            try (Connector to = device.resolve(MockedDisni.PEER, LONG_NS)) {
                QueuePair made = to.createQueuePair(domain, attributes());
                to.connect(ConnectionParameters.DEFAULT, LONG_NS);
                return made;
            }
        }

        PostStatus send(long wrId, int flags) {
            return pair.postSend(wrId, region, 0, BYTES, flags);
        }

        int poll() {
            return completions.poll(polled, polled.length);
        }

        /** Polls until so many came; what came is checked one by one by the test. */
        List<String> pollAll(int count) {
            List<String> all = new ArrayList<>();
            while (all.size() < count) {
                int taken = poll();
                for (int i = 0; i < taken; i++) {
                    all.add(polled[i].wrId() + " " + polled[i].status());
                }
                Thread.onSpinWait();
            }
            assertEquals(0, poll());
            return all;
        }

        @Override
        public void close() {
            pair.close();
            connector.close();
            region.close();
            memory.close();
            completions.close();
            channel.close();
            domain.close();
            device.close();
        }
    }

    private Connection connected(WireProtocol transport) {
        return new Connection(transport, true);
    }

    /** The native number of the request that a prepared call posted last. */
    private static long nativeId(DisniLibrary.PreparedSend call) {
        ArgumentCaptor<Long> wrId = ArgumentCaptor.forClass(Long.class);
        verify(call, atLeast(1)).request(wrId.capture(), anyInt(), anyLong(), anyInt());
        return wrId.getValue();
    }

    private static long nativeId(DisniLibrary.PreparedReceive call) {
        ArgumentCaptor<Long> wrId = ArgumentCaptor.forClass(Long.class);
        verify(call, atLeast(1)).request(wrId.capture());
        return wrId.getValue();
    }

    // ---- prepared calls

    @Test
    void shouldPrepareACallPerOpcodeAndEntriesAndUseItAgain() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.send(1, SendFlags.SIGNALLED);
            disni.completions.add(new Completion(nativeId(disni.sends.getFirst()), 0, 0, 0));
            assertEquals(1, it.poll());
            it.send(2, SendFlags.NONE);
            it.pair.postRead(3, it.region, 8, 16, 0x1234, 77, SendFlags.FENCE);
            it.pair.post(new SendWorkRequest()
                    .send(4, SendFlags.NONE)
                    .add(it.region, 0, 1)
                    .add(it.region, 1, 2));
            assertEquals(3, disni.sends.size());
            verify(disni.sends.getFirst(), times(2)).execute();
            DisniLibrary.PreparedSend read = disni.sends.get(1);
            InOrder order = inOrder(read);
            order.verify(read).entry(0, it.region.address() + 8, 16, it.region.lkey());
            order.verify(read).request(anyLong(), eq(SendFlags.FENCE), eq(0x1234L), eq(77));
            order.verify(read).execute();
            verify(disni.sends.get(2)).entry(1, it.region.address() + 1, 2, it.region.lkey());
        }
        for (DisniLibrary.PreparedSend call : disni.sends) {
            verify(call).free();
        }
        for (DisniLibrary.PreparedPoll call : disni.polls) {
            verify(call).free();
        }
    }

    @Test
    void shouldPostReceivesByOneCallPerEntries() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            assertEquals(PostStatus.ACCEPTED, it.pair.postReceive(1, it.region, 0, 8));
            assertEquals(
                    PostStatus.ACCEPTED,
                    it.pair.post(new ReceiveWorkRequest().receive(2).add(it.region, 8, 8)));
            assertEquals(PostStatus.QUEUE_FULL, it.pair.postReceive(3, it.region, 0, 8));
            verify(disni.receives.getFirst(), times(2)).execute();
            disni.completions.add(new Completion(nativeId(disni.receives.getFirst()), 0, 128, 5));
            assertEquals(1, it.poll());
            assertEquals(2, it.polled[0].wrId());
            assertEquals(CompletionOpcode.RECEIVE, it.polled[0].opcode());
            assertEquals(5, it.polled[0].byteLength());
            assertEquals(MockedDisni.PAIR_NUMBER, it.polled[0].qpNumber());
        }
        assertEquals(1, disni.receives.size());
        verify(disni.receives.getFirst()).free();
    }

    @Test
    void shouldNeverPollForMoreThanTheArrayHolds() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.poll();
            it.completions.poll(it.polled, 3);
            it.completions.poll(it.polled, 1);
            List<String> names = disni.polls.stream()
                    .map(poll -> mockingDetails(poll)
                            .getMockCreationSettings()
                            .getMockName()
                            .toString())
                    .toList();
            assertEquals(List.of("poll of 8", "poll of 2", "poll of 1"), names);
        }
    }

    // ---- completions and full queues

    @Test
    void shouldReadOnlyNumberAndStatusWhenARequestFailed() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.send(42, SendFlags.SIGNALLED);
            disni.completions.add(new Completion(nativeId(disni.sends.getFirst()), 10, 99, 4096));
            assertEquals(1, it.poll());
            assertEquals(42, it.polled[0].wrId());
            assertEquals(CompletionStatus.REMOTE_ACCESS_ERROR, it.polled[0].status());
            assertEquals(0, it.polled[0].vendorCode());
            assertEquals(QueuePairState.ERROR, it.pair.state());
            verify(disni.polls.getFirst(), never()).byteLength(anyInt());
            verify(disni.polls.getFirst(), never()).opcode(anyInt());
        }
    }

    @Test
    void shouldEndEveryQueuePairThatFailedWhenTwoPollAtOnce() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE);
                QueuePair second = it.another();
                QueuePair third = it.another()) {
            it.send(1, SendFlags.SIGNALLED);
            second.postSend(2, it.region, 0, BYTES, SendFlags.SIGNALLED);
            long early = nativeId(disni.sends.get(1));
            second.postSend(3, it.region, 0, BYTES, SendFlags.SIGNALLED);
            long late = nativeId(disni.sends.get(1));
            third.postSend(4, it.region, 0, BYTES, SendFlags.SIGNALLED);
            doAnswer(call -> {
                        disni.completions.add(new Completion(late, FLUSHED, 0, 0));
                        assertEquals(1, it.completions.poll(WorkCompletion.array(1)));
                        return null;
                    })
                    .doNothing()
                    .when(it.id)
                    .disconnect();
            disni.completions.add(new Completion(nativeId(disni.sends.get(2)), FLUSHED, 0, 0));
            disni.completions.add(new Completion(early, FLUSHED, 0, 0));
            disni.completions.add(new Completion(nativeId(disni.sends.get(0)), FLUSHED, 0, 0));
            assertEquals(3, it.poll());
            assertEquals(QueuePairState.ERROR, it.pair.state());
            assertEquals(QueuePairState.ERROR, second.state());
            assertEquals(QueuePairState.ERROR, third.state());
        }
    }

    @Test
    void shouldPassOverCompletionsOfNobodyAndThoseThatComeTwice() {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.send(1, SendFlags.SIGNALLED);
            long nativeId = nativeId(disni.sends.getFirst());
            disni.completions.add(new Completion(-1, 0, 0, 0));
            disni.completions.add(new Completion(nativeId, 0, 0, 0));
            disni.completions.add(new Completion(nativeId, 0, 0, 0));
            assertEquals(1, it.poll());
            assertEquals(1, it.polled[0].wrId());
        }
    }

    @Test
    void shouldBeFullByTheRingAndByTheDriver() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.send(1, SendFlags.NONE);
            DisniLibrary.PreparedSend call = disni.sends.getFirst();
            doThrow(new IOException("j2c::post_send: ibv_post_send failed: Cannot allocate memory\n"))
                    .doNothing()
                    .when(call)
                    .execute();
            assertEquals(PostStatus.QUEUE_FULL, it.send(2, SendFlags.NONE));
            for (int i = 1; i < SENDS; i++) {
                assertEquals(PostStatus.ACCEPTED, it.send(2 + i, SendFlags.SIGNALLED));
            }
            assertEquals(PostStatus.QUEUE_FULL, it.send(99, SendFlags.NONE));
            verify(call, times(SENDS + 1)).execute();
        }
    }

    @Test
    void shouldPostNothingWhenTheDriverRefuses() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.send(1, SendFlags.NONE);
            doThrow(new IOException("j2c::post_send: ibv_post_send failed: Invalid argument\n"))
                    .when(disni.sends.getFirst())
                    .execute();
            VerbsException refused = assertThrows(VerbsException.class, () -> it.send(2, SendFlags.NONE));
            assertEquals(VerbsErrorCode.OTHER, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains("Invalid argument: nothing was posted"));
        }
    }

    @Test
    void shouldSayHowMuchOfAListWasAccepted() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            SendWorkRequestList list = new SendWorkRequestList(SENDS + 1);
            for (int i = 0; i <= SENDS; i++) {
                list.next().send(i, SendFlags.NONE).add(it.region, 0, 1);
            }
            assertEquals(PostStatus.QUEUE_FULL, it.pair.post(list));
            assertEquals(SENDS, list.accepted());
            verify(disni.sends.getFirst(), times(SENDS)).execute();
        }
        assertEquals(1, disni.sends.size());
    }

    @Test
    void shouldRefuseWhatCanNeverBePosted() {
        try (Connection it = new Connection(WireProtocol.ROCE, false)) {
            assertThrows(IllegalStateException.class, () -> it.send(1, SendFlags.NONE));
            assertThrows(IllegalArgumentException.class, () -> it.send(1, 1 << 7));
            assertThrows(
                    IllegalArgumentException.class, () -> it.pair.postReceive(1, it.region, 0, 1L + Integer.MAX_VALUE));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> it.pair.postSend(1, it.region, BYTES - 1, 2, SendFlags.INLINE));
            assertTrue(disni.sends.isEmpty() && disni.receives.isEmpty());
        }
    }

    @Test
    void shouldRefuseAReadWhenThisSideAskedForNone() {
        try (Connection it = new Connection(WireProtocol.ROCE, false)) {
            it.connector.connect(ConnectionParameters.ofReads(0), LONG_NS);
            assertThrows(IllegalStateException.class, () -> it.pair.postRead(1, it.region, 0, 1, 0, 0, SendFlags.NONE));
        }
    }

    // ---- ERROR

    @Test
    void shouldFlushInOrderWhenTheDeviceDoesNot() throws IOException {
        try (Connection it = connected(WireProtocol.IWARP)) {
            it.send(1, SendFlags.SIGNALLED);
            it.send(2, SendFlags.SIGNALLED);
            long first = nativeId(disni.sends.getFirst()) - 1;
            it.pair.disconnect();
            assertEquals(PostStatus.ACCEPTED, it.send(3, SendFlags.NONE));
            assertEquals(PostStatus.ACCEPTED, it.pair.postReceive(4, it.region, 0, 1));
            disni.completions.add(new Completion(first, 0, 0, 0));
            assertEquals(List.of("1 SUCCESS", "2 FLUSHED", "3 FLUSHED", "4 FLUSHED"), it.pollAll(4));
            verify(disni.sends.getFirst(), times(2)).execute();
            verify(it.id, timeout(30_000).atLeast(1)).disconnect();
        }
    }

    @Test
    void shouldFlushUnsignalledRequestsThatTheDeviceSaidNothingOf() {
        try (Connection it = connected(WireProtocol.IWARP)) {
            it.send(1, SendFlags.NONE);
            it.pair.postRead(2, it.region, 0, 8, 0x1234, 77, SendFlags.NONE);
            verify(disni.sends.get(1)).request(anyLong(), eq(SendFlags.SIGNALLED), eq(0x1234L), eq(77));
            disni.completions.add(new Completion(nativeId(disni.sends.getFirst()), 0, 0, 0));
            assertEquals(0, it.poll());
            it.pair.disconnect();
            assertEquals(List.of("2 FLUSHED"), it.pollAll(1));
        }
    }

    /** The second is what libsiw says when the kernel refuses its doorbell: the number that write(2) returned. */
    @ParameterizedTest
    @ValueSource(strings = {"Transport endpoint is not connected", "Unknown error -1"})
    void shouldTakeARequestOfAConnectionThatIsGoneForPosted(String error) throws IOException {
        try (Connection it = connected(WireProtocol.IWARP)) {
            it.send(1, SendFlags.NONE);
            doThrow(new IOException("ibv_post_send failed: " + error + "\n"))
                    .when(disni.sends.getFirst())
                    .execute();
            assertEquals(PostStatus.ACCEPTED, it.send(2, SendFlags.SIGNALLED));
            it.pair.disconnect();
            assertEquals(List.of("1 FLUSHED", "2 FLUSHED"), it.pollAll(2));
        }
    }

    @Test
    void shouldGiveTheDeviceWhatIsPostedInErrorWhenItFlushes() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.pair.disconnect();
            verify(it.id, atLeast(1)).disconnect();
            assertEquals(PostStatus.ACCEPTED, it.send(1, SendFlags.NONE));
            verify(disni.sends.getFirst()).execute();
            assertEquals(PostStatus.ACCEPTED, it.pair.postReceive(2, it.region, 0, 1));
            InOrder order = inOrder(disni.receives.getFirst(), it.id);
            order.verify(disni.receives.getFirst()).execute();
            order.verify(it.id, atLeast(1)).disconnect();
            disni.completions.add(new Completion(nativeId(disni.sends.getFirst()), FLUSHED, 0, 0));
            disni.completions.add(new Completion(nativeId(disni.receives.getFirst()), FLUSHED, 0, 0));
            assertEquals(List.of("1 FLUSHED", "2 FLUSHED"), it.pollAll(2));
        }
    }

    // ---- a message before the connection's event

    @Test
    void shouldHoldAMessageBackUntilItCanBeAnswered() throws IOException {
        disni.afterConnect = List.of();
        try (Connection it = new Connection(WireProtocol.IWARP, false)) {
            it.pair.postReceive(7, it.region, 0, 8);
            it.completions.requestNotification(false);
            CompletableFuture<Void> connecting =
                    CompletableFuture.runAsync(() -> it.connector.connect(ConnectionParameters.DEFAULT, LONG_NS));
            verify(it.id, timeout(30_000)).connect(); // no device is connected before it was asked to be
            disni.completions.add(new Completion(nativeId(disni.receives.getFirst()), 0, 128, 5));
            assertEquals(0, it.poll());
            disni.happen(CmEventType.ESTABLISHED, it.id);
            assertEquals(Optional.of(it.completions), it.channel.await(LONG_NS));
            it.completions.acknowledgeEvents(1);
            assertEquals(List.of("7 SUCCESS"), it.pollAll(1));
            assertEquals(PostStatus.ACCEPTED, it.send(8, SendFlags.NONE));
            connecting.join();
        }
    }

    @Test
    void shouldGiveAMessageThatWasHeldBackWhenTheConnectionWillNeverBe() {
        try (Connection it = new Connection(WireProtocol.IWARP, false)) {
            it.pair.postReceive(7, it.region, 0, 8);
            it.completions.requestNotification(false);
            disni.completions.add(new Completion(nativeId(disni.receives.getFirst()), 0, 128, 5));
            assertEquals(0, it.poll());
            it.pair.disconnect();
            assertEquals(Optional.of(it.completions), it.channel.await(LONG_NS));
            it.completions.acknowledgeEvents(1);
            assertEquals(List.of("7 SUCCESS"), it.pollAll(1));
        }
    }

    // ---- events

    @Test
    void shouldWakeWhoWaitsWhenANativeEventComes() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.completions.requestNotification(false);
            verify(disni.queues.getFirst()).requestNotification(false);
            disni.completionEvents.add(true);
            assertEquals(Optional.of(it.completions), it.channel.await(LONG_NS));
            assertEquals(VerbsErrorCode.BUSY, closeWhileBusy(it));
            it.completions.acknowledgeEvents(1);
            assertThrows(IllegalArgumentException.class, () -> it.completions.acknowledgeEvents(1));
            assertEquals(Optional.empty(), it.channel.await(0));
        }
    }

    private static VerbsErrorCode closeWhileBusy(Connection it) {
        it.pair.close();
        return assertThrows(VerbsException.class, it.completions::close).code();
    }

    @Test
    void shouldArmForAnyWhenSolicitedEventsAreNotTold() throws IOException {
        try (Connection it = connected(WireProtocol.IWARP)) {
            it.completions.requestNotification(true);
            verify(disni.queues.getFirst()).requestNotification(false);
            disni.completionEvents.add(true);
            assertEquals(Optional.of(it.completions), it.channel.await(LONG_NS));
            disni.completionEvents.add(true);
            assertEquals(Optional.of(it.completions), it.channel.await(LONG_NS), "it goes on waiting");
            verify(disni.queues.getFirst(), atLeast(2)).requestNotification(false);
            it.completions.acknowledgeEvents(2);
        }
    }

    @Test
    void shouldArmForSolicitedWhereTheDeviceTellsThem() throws IOException {
        try (Connection it = connected(WireProtocol.ROCE)) {
            it.completions.requestNotification(true);
            verify(disni.queues.getFirst()).requestNotification(true);
            it.completions.requestNotification(false);
            it.completions.requestNotification(true);
            verify(disni.queues.getFirst(), times(2)).requestNotification(false);
        }
    }

    @Test
    void shouldRaiseAnEventForWhatItFlushesItself() {
        try (Connection it = connected(WireProtocol.IWARP)) {
            it.pair.postReceive(1, it.region, 0, 1);
            it.completions.requestNotification(false);
            it.pair.disconnect();
            assertEquals(Optional.of(it.completions), it.channel.await(LONG_NS));
            it.completions.acknowledgeEvents(1);
            assertEquals(List.of("1 FLUSHED"), it.pollAll(1));
        }
    }

    @Test
    void shouldEndAWaitByAnInterruptOrByClosing() throws InterruptedException {
        Connection it = connected(WireProtocol.ROCE);
        Thread.currentThread().interrupt();
        assertEquals(
                VerbsErrorCode.INTERRUPTED,
                assertThrows(VerbsException.class, () -> it.channel.await(LONG_NS))
                        .code());
        assertTrue(Thread.interrupted());
        CompletionChannel other = it.device.createCompletionChannel();
        List<Throwable> thrown = new ArrayList<>();
        Thread waiter = Thread.ofPlatform()
                .start(() -> thrown.add(assertThrows(IllegalStateException.class, () -> other.await(LONG_NS))));
        while (waiter.getState() != Thread.State.TIMED_WAITING && waiter.isAlive()) {
            Thread.onSpinWait();
        }
        other.close();
        waiter.join();
        assertFalse(thrown.isEmpty());
        it.close();
    }

    // ---- closing

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE, // what a connection manager leaves no queue pair in
            names = {"READY_TO_RECEIVE", "RESET", "SEND_QUEUE_DRAIN", "SEND_QUEUE_ERROR"})
    void shouldCloseInEveryState(QueuePairState state) throws IOException {
        Connection it = new Connection(WireProtocol.ROCE, state != QueuePairState.INITIAL);
        it.pair.postReceive(1, it.region, 0, 1);
        if (state == QueuePairState.ERROR) {
            it.pair.disconnect();
        } else if (state == QueuePairState.CLOSED) {
            it.pair.close();
        }
        assertEquals(state, it.pair.state());
        it.close();
        it.close();
        verify(it.id).destroyQueuePair();
        verify(it.id).destroy();
        verify(disni.receives.getFirst()).free();
        InOrder order = inOrder(it.id, disni.queues.getFirst(), disni.domain, disni.channel);
        order.verify(it.id).destroyQueuePair();
        order.verify(disni.queues.getFirst()).destroy();
        order.verify(disni.domain).deallocate();
        order.verify(disni.channel).destroy();
        verify(disni.queues.getFirst(), never()).requestNotification(anyBoolean());
        assertThrows(IllegalStateException.class, () -> it.pair.postReceive(1, it.region, 0, 1));
        assertThrows(IllegalStateException.class, it::poll);
    }
}
