package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** How posted requests end when something about them, or about their queue pair, is wrong. */
class PostedRequestsTest {
    private static final int WRITE_BYTES = 100_000;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(8, 8, 1, 1, 64);

    // ---- a request that is wrong

    @ParameterizedTest
    @EveryTransport
    void shouldSendTheWritesBeforeItWhenTheKeyOfAWriteIsWrong(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport, "socket-buffer", "8192");
                RecordingPeer peer = new RecordingPeer(server, 64 << 10, LIMITS)) {
            TestDevice.Guarded source = server.guarded(WRITE_BYTES).fill(61);
            SendWorkRequestList list = new SendWorkRequestList(3);
            list.next().write(1, 0, 99, SendFlags.SIGNALLED).add(source.region(), 0, WRITE_BYTES);
            list.next().write(2, 0, 99, SendFlags.SIGNALLED).add(source.region(), 0, WRITE_BYTES);
            list.next()
                    .write(3, 0, 99, SendFlags.SIGNALLED)
                    .add(source.region().address(), 100, source.region().lkey() ^ 1);
            assertEquals(PostStatus.ACCEPTED, peer.pair().post(list));
            CompletableFuture<Void> recorded = CompletableFuture.runAsync(peer::takeAll, Thread::startVirtualThread);

            List<TestDevice.Completion> completions = server.take(3);

            assertEquals(
                    List.of(
                            "1 " + CompletionStatus.SUCCESS,
                            "2 " + CompletionStatus.SUCCESS,
                            "3 " + CompletionStatus.LOCAL_PROTECTION_ERROR),
                    completions.stream()
                            .map(completion -> completion.wrId() + " " + completion.status())
                            .toList());
            recorded.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
            expectWritesThenTerminate(peer.recording(), source.bytes(0, WRITE_BYTES));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldRefuseInlineDataOutsideOfItsRegion(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RecordingPeer peer = new RecordingPeer(server, 0, LIMITS)) {
            TestDevice.Guarded source = server.guarded(100);
            QueuePair pair = peer.pair();
            int inline = SendFlags.INLINE;

            assertThrows(
                    IllegalArgumentException.class, () -> pair.postWrite(1, source.region(), 90, 11, 0, 99, inline));
            assertThrows(IllegalArgumentException.class, () -> pair.postSend(2, source.region(), -1, 10, inline));
            assertThrows(IllegalArgumentException.class, () -> pair.postSend(3, source.region(), 0, -1, inline));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new SendWorkRequest().send(4, inline).add(source.region(), 101, 0));
            // The flags are looked at first: this is too much inline data, wherever it is.
            IllegalArgumentException tooLong = assertThrows(
                    IllegalArgumentException.class, () -> pair.postSend(5, source.region(), 90, 65, inline));
            assertTrue(String.valueOf(tooLong.getMessage()).contains("maxInline=64"), tooLong::getMessage);
        }
    }

    private static void expectWritesThenTerminate(RecordingPeer.Recording recording, byte[] expected) {
        assertEquals(0, recording.rest().length, "bytes of a segment cut by the end of the stream");
        List<Integer> opcodes = recording.opcodes();
        assertEquals(Frames.TERMINATE, opcodes.getLast(), () -> "the last of " + opcodes);
        byte[] written = TestBytes.concat(recording.segments().subList(0, opcodes.size() - 1).stream()
                .map(segment -> TestBytes.slice(segment, 14, segment.length))
                .toArray(byte[][]::new));
        byte[] twice = TestBytes.concat(expected, expected);
        assertEquals(twice.length, written.length, "bytes of the two good WRITEs");
        assertEquals(-1, Arrays.mismatch(twice, written), "where the two WRITEs differ from their source");
    }

    @ParameterizedTest
    @EveryTransport
    void shouldRefuseAnInlinePostWhenItsRegionIsClosed(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RecordingPeer peer = new RecordingPeer(server, 0, LIMITS)) {
            TestDevice.Guarded source = server.guarded(64);
            source.region().close();
            int flags = SendFlags.INLINE | SendFlags.SIGNALLED;
            assertThrows(
                    IllegalStateException.class, () -> peer.pair().postSend(1, source.region(), 0, 8, flags), "SEND");
            assertThrows(
                    IllegalStateException.class,
                    () -> peer.pair().postWrite(2, source.region(), 0, 8, 0, 99, flags),
                    "WRITE");
            server.expectNoCompletion();
            assertEquals(QueuePairState.READY_TO_SEND, peer.pair().state());
        }
    }

    // ---- a queue pair that never had a connection

    @ParameterizedTest
    @EveryTransport
    void shouldFlushPostsWhenTheConnectionWasRefused(String transport) throws Exception {
        try (Socket bound = new Socket()) { // its port is nobody else's, and nobody listens there
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            expectFlushedWhenConnectFails(transport, (InetSocketAddress) bound.getLocalSocketAddress());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFlushPostsWhenTheConnectFailedAtOnce(String transport) {
        // connect(2) itself fails for the broadcast address.
        expectFlushedWhenConnectFails(transport, new InetSocketAddress(InetAddress.ofLiteral("255.255.255.255"), 9));
    }

    private static void expectFlushedWhenConnectFails(String transport, InetSocketAddress remote) {
        try (TestDevice here = new TestDevice("transport", transport)) {
            Connector connector = here.own(here.device().resolve(remote, TestDevice.DEADLINE_NS));
            QueuePair pair = queuePair(here, connector);
            assertThrows(
                    VerbsException.class,
                    () -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS));
            expectFlushed(here, pair);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFlushPostsWhenTheConnectorWasClosed(String transport) {
        try (TestDevice here = new TestDevice("transport", transport)) {
            Connector connector = here.device().resolve(here.address(), TestDevice.DEADLINE_NS);
            QueuePair pair = queuePair(here, connector);
            connector.close();
            expectFlushed(here, pair);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFlushPostsWhenTheRequestWasRejected(String transport) throws Exception {
        try (TestDevice here = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(here.address())) {
            peer.sendBytes(Frames.mpa(Frames.REQUEST_KEY, 0, 1, new byte[0]));
            ConnectionRequest request = here.request();
            QueuePair pair = here.queuePair(request, LIMITS);
            request.reject(new byte[0]);
            expectFlushed(here, pair);
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFlushPostsWhenTheRequestWasClosed(String transport) throws Exception {
        try (TestDevice here = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(here.address())) {
            peer.sendBytes(Frames.mpa(Frames.REQUEST_KEY, 0, 1, new byte[0]));
            ConnectionRequest request = here.request();
            QueuePair pair = here.queuePair(request, LIMITS);
            request.close();
            expectFlushed(here, pair);
        }
    }

    private static QueuePair queuePair(TestDevice here, Connector connector) {
        return here.own(connector.createQueuePair(here.domain(), QueuePairAttributes.of(here.queue(), LIMITS)));
    }

    private static void expectFlushed(TestDevice here, QueuePair pair) {
        TestDevice.await("the queue pair to be in ERROR", () -> pair.state() == QueuePairState.ERROR);
        TestDevice.Guarded memory = here.guarded(64, AccessFlag.RECEIVE_SINK);
        assertEquals(PostStatus.ACCEPTED, pair.postReceive(1, memory.region(), 0, 8));
        assertEquals(PostStatus.ACCEPTED, pair.postSend(2, memory.region(), 0, 8, SendFlags.NONE));
        Map<Long, CompletionStatus> statuses = new TreeMap<>();
        here.take(2).forEach(completion -> statuses.put(completion.wrId(), completion.status()));
        assertEquals(Map.of(1L, CompletionStatus.FLUSHED, 2L, CompletionStatus.FLUSHED), statuses);
    }
}
