package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.net.transport.TransportKinds;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** What peers send to a listener, good and bad (RFC 5044 section 7.1, RFC 6581 section 9). */
class PassiveHandshakeTest {
    private static final byte[] GOOD =
            Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 16, 16, (byte) 5));

    static Stream<Arguments> malformed() {
        byte[] oneOff = GOOD.clone();
        oneOff[15] ^= 1;
        byte[] firstOff = GOOD.clone();
        firstOff[0] ^= 0x20;
        List<Arguments> all = List.of(
                Arguments.of("HTTP", "GET / HTTP/1.1\r\nHost: nobody\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
                Arguments.of("one byte", new byte[] {'G'}),
                Arguments.of("zeros", new byte[100]),
                Arguments.of("key with its last byte off", oneOff),
                Arguments.of("key with its first byte off", firstOff),
                Arguments.of("a reply", Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1))),
                Arguments.of("revision 0", Frames.mpa(Frames.REQUEST_KEY, 0, 0, new byte[0])),
                Arguments.of("revision 3", Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 3, new byte[4])),
                Arguments.of("revision 255", Frames.mpa(Frames.REQUEST_KEY, 0, 255, new byte[0])),
                Arguments.of("private data of 513", Frames.mpa(Frames.REQUEST_KEY, 0, 1, new byte[513])),
                Arguments.of("private data of 32768", Frames.mpa(Frames.REQUEST_KEY, 0, 1, 32_768, new byte[0])),
                Arguments.of("private data of 65535", Frames.mpa(Frames.REQUEST_KEY, 0, 1, 65_535, new byte[600])),
                Arguments.of("no depths", Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, new byte[0])),
                Arguments.of("1 byte of depths", Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, new byte[1])),
                Arguments.of("3 bytes of depths", Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, new byte[3])));
        return onEveryTransport(all);
    }

    private static Stream<Arguments> onEveryTransport(List<Arguments> cases) {
        return cases.stream()
                .flatMap(one -> TransportKinds.names().map(transport -> {
                    List<Object> arguments = new ArrayList<>(List.of(one.get()));
                    arguments.add(transport);
                    return Arguments.of(arguments.toArray());
                }));
    }

    @ParameterizedTest(name = "{0}, {2}")
    @MethodSource("malformed")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldCloseWithoutAReplyWhenTheRequestIsMalformed(String name, byte[] request, String transport)
            throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                Bystander bystander = new Bystander(server, transport)) {
            bystander.begin();
            Map<String, Long> before = server.trouble();
            try (RawPeer peer = RawPeer.connect(server.address())) {
                peer.sendBytes(request);
                assertEquals(0, peer.awaitEnd(), "bytes sent to a peer that may speak another protocol");
            }
            server.awaitTrouble(before, Map.of("handshakeErrors", 1L));
            assertTrue(server.listener().next(0).isEmpty(), "a malformed request never becomes one");
            bystander.finish();
        }
    }

    /** Requests that are well formed but ask for markers, and the replies they get, in their own form. */
    static Stream<Arguments> markers() {
        int readyByWrite = Frames.PEER_TO_PEER | Frames.RTR_WRITE;
        int readyByAny = Frames.PEER_TO_PEER | Frames.RTR_WRITE | Frames.RTR_READ;
        return onEveryTransport(List.of(
                Arguments.of(
                        "rev 1",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.MARKERS, 1, new byte[] {1, 2}),
                        Frames.mpa(Frames.REPLY_KEY, Frames.REJECTED, 1, new byte[0])),
                Arguments.of(
                        "rev 2, CRC, not enhanced",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.MARKERS | Frames.CRC, 2, new byte[0]),
                        Frames.mpa(Frames.REPLY_KEY, Frames.REJECTED | Frames.CRC, 2, new byte[0])),
                Arguments.of(
                        "enhanced",
                        Frames.mpa(
                                Frames.REQUEST_KEY, Frames.MARKERS | Frames.ENHANCED, 2, Frames.depths(0, 1, 1, (byte)
                                        7)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.REJECTED | Frames.ENHANCED, 2, Frames.depths(0, 0, 0))),
                Arguments.of(
                        "enhanced, peer-to-peer",
                        Frames.mpa(
                                Frames.REQUEST_KEY,
                                Frames.MARKERS | Frames.ENHANCED,
                                2,
                                Frames.depths(readyByWrite, 1, 1)),
                        Frames.mpa(
                                Frames.REPLY_KEY,
                                Frames.REJECTED | Frames.ENHANCED,
                                2,
                                Frames.depths(readyByAny, 0, 0)))));
    }

    @ParameterizedTest(name = "{0}, {3}")
    @MethodSource("markers")
    void shouldRejectInThePeersFormWhenItRequiresMarkers(String name, byte[] request, byte[] reply, String transport)
            throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                Bystander bystander = new Bystander(server, transport)) {
            bystander.begin();
            Map<String, Long> before = server.trouble();
            try (RawPeer peer = RawPeer.connect(server.address())) {
                peer.sendBytes(request);
                assertEquals(TestBytes.hex(reply), TestBytes.hex(peer.receiveMpa()));
                peer.shutdownOutput(); // it closes
                peer.expectEnd();
            }
            server.awaitTrouble(before, Map.of("handshakeErrors", 1L));
            assertTrue(server.listener().next(0).isEmpty(), "a request for markers never becomes one");
            bystander.finish();
        }
    }

    static Stream<Arguments> unfinished() {
        return Stream.of(0, 1, 15, 16, 19, 20, 24)
                .flatMap(length -> TransportKinds.names().map(transport -> Arguments.of(length, transport)));
    }

    @ParameterizedTest
    @MethodSource("unfinished")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldCloseWhenThePeerClosesTooEarly(int length, String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                Bystander bystander = new Bystander(server, transport)) {
            bystander.begin();
            Map<String, Long> before = server.trouble();
            try (RawPeer peer = RawPeer.connect(server.address())) {
                peer.sendBytes(Arrays.copyOf(GOOD, length));
                peer.shutdownOutput();
                peer.expectEnd();
            }
            server.awaitTrouble(before, Map.of("handshakeErrors", 1L));
            bystander.finish();
        }
    }

    @ParameterizedTest
    @MethodSource("unfinished")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldCloseWhenThePeerResetsTooEarly(int length, String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                Bystander bystander = new Bystander(server, transport)) {
            bystander.begin();
            Map<String, Long> before = server.trouble();
            try (RawPeer peer = RawPeer.connect(server.address())) {
                peer.sendBytes(Arrays.copyOf(GOOD, length));
                peer.reset();
            }
            server.awaitTrouble(before, Map.of("handshakeErrors", 1L));
            bystander.finish();
        }
    }

    /** At its time, and for every length: {@code HandshakeTimeTest}. Others need less than a second, also on a busy machine. */
    @ParameterizedTest
    @CsvSource({"0,epoll", "19,epoll", "0,nio", "19,nio"})
    void shouldCloseWhenThePeerIsTooSlow(int length, String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport, "handshake-timeout", "1000");
                Bystander bystander = new Bystander(server, transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            bystander.begin();
            Map<String, Long> before = server.trouble();
            peer.sendBytes(Arrays.copyOf(GOOD, length));
            peer.awaitEnd();
            server.awaitTrouble(before, Map.of("handshakeErrors", 1L));
            assertTrue(server.listener().next(0).isEmpty());
            bystander.finish();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTakeARequestByteByByte(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            for (byte b : GOOD) {
                peer.sendBytes(new byte[] {b});
            }
            ConnectionRequest request = server.request();
            assertArrayEquals(new byte[] {5}, request.privateData());
            assertEquals(16, request.peerInboundReads().orElseThrow());
            request.close();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTakeTheLongestPrivateDataAndNotAByteMore(String transport) throws Exception {
        byte[] data = TestBytes.pattern(5, 508);
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            // What stands behind the frame is the stream already, though the reply has not come.
            peer.sendBytes(TestBytes.concat(
                    Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1, data)),
                    Frames.fpdu(Frames.send(1, (byte) 3), false)));
            ConnectionRequest request = server.request();
            assertArrayEquals(data, request.privateData());
            QueuePair pair = server.queuePair(request, QueuePairLimits.DEFAULT);
            TestDevice.Guarded received = server.guarded(16, AccessFlag.RECEIVE_SINK);
            pair.postReceive(4, received.region(), 0, 16);
            request.accept(ConnectionParameters.DEFAULT);
            peer.receiveMpa();
            assertEquals(1, server.take(1).getFirst().bytes());
            assertArrayEquals(new byte[] {3}, received.bytes(0, 1));
            pair.close();
        }
    }

    /** Requests and the replies they get: rev 1, peer-to-peer with each choice, depths that are not negotiated. */
    static Stream<Arguments> replies() {
        int ird = 8;
        int ord = 4;
        byte[] data = {9, 8, 7};
        int p2p = Frames.PEER_TO_PEER;
        int both = p2p | Frames.RTR_WRITE | Frames.RTR_READ;
        List<Arguments> all = List.of(
                Arguments.of(
                        "rev 1",
                        Frames.mpa(Frames.REQUEST_KEY, 0, 1, data),
                        Frames.mpa(Frames.REPLY_KEY, 0, 1, data),
                        ord),
                Arguments.of(
                        "rev 1, CRC",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.CRC, 1, data),
                        Frames.mpa(Frames.REPLY_KEY, Frames.CRC, 1, data),
                        ord),
                Arguments.of(
                        "rev 2, not enhanced",
                        Frames.mpa(Frames.REQUEST_KEY, 0, 2, data),
                        Frames.mpa(Frames.REPLY_KEY, 0, 2, data),
                        ord),
                Arguments.of(
                        "reserved bits and R",
                        Frames.mpa(Frames.REQUEST_KEY, 0x2F, 1, data),
                        Frames.mpa(Frames.REPLY_KEY, 0, 1, data),
                        ord),
                Arguments.of(
                        "enhanced",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 16, 16)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, ird, ord, data)),
                        ord),
                Arguments.of(
                        "less than wanted",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 2, 3)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, ird, 2, data)),
                        2),
                Arguments.of(
                        "no READs to the peer",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 0, 3)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, ird, 0, data)),
                        0),
                Arguments.of(
                        "depths not negotiated",
                        Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 0x3FFF, 0x3FFF)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, 0x3FFF, 0x3FFF, data)),
                        ord),
                Arguments.of(
                        "control bits without peer-to-peer",
                        Frames.mpa(
                                Frames.REQUEST_KEY,
                                Frames.ENHANCED,
                                2,
                                Frames.depths(Frames.RTR_SEND | Frames.RTR_WRITE | Frames.RTR_READ, 16, 16)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, ird, ord, data)),
                        ord),
                Arguments.of(
                        "RTR by WRITE",
                        Frames.mpa(
                                Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(p2p | Frames.RTR_WRITE, 16, 16)),
                        Frames.mpa(
                                Frames.REPLY_KEY,
                                Frames.ENHANCED,
                                2,
                                Frames.depths(p2p | Frames.RTR_WRITE, ird, ord, data)),
                        ord),
                Arguments.of(
                        "RTR by READ",
                        Frames.mpa(
                                Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(p2p | Frames.RTR_READ, 16, 16)),
                        Frames.mpa(
                                Frames.REPLY_KEY,
                                Frames.ENHANCED,
                                2,
                                Frames.depths(p2p | Frames.RTR_READ, ird, ord, data)),
                        ord),
                Arguments.of(
                        "RTR by anything",
                        Frames.mpa(
                                Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(both | Frames.RTR_SEND, 16, 16)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(both, ird, ord, data)),
                        ord),
                Arguments.of(
                        "RTR by SEND only",
                        Frames.mpa(
                                Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(p2p | Frames.RTR_SEND, 16, 16)),
                        Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(both, ird, ord, data)),
                        ord));
        return onEveryTransport(all);
    }

    @ParameterizedTest(name = "{0}, {4}")
    @MethodSource("replies")
    void shouldReplyAsTheRequestAllows(String name, byte[] request, byte[] reply, int ord, String transport)
            throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            peer.sendBytes(request);
            ConnectionRequest asked = server.request();
            QueuePair pair = server.queuePair(asked, QueuePairLimits.DEFAULT);
            asked.accept(new ConnectionParameters(4, 8, new byte[] {9, 8, 7}));
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
            assertEquals(TestBytes.hex(reply), TestBytes.hex(peer.receiveMpa()));
            boolean crc = (reply[16] & Frames.CRC) != 0;
            boolean peerToPeer = (reply[16] & Frames.ENHANCED) != 0 && (reply[20] & 0x80) != 0;
            if (peerToPeer) {
                boolean byRead = (reply[22] & 0x40) != 0;
                peer.send(byRead ? Frames.readRequest(1, 0, 0, 0, 0, 0) : Frames.tagged(Frames.WRITE, true, 0, 0));
                if (byRead) {
                    peer.expect(Frames.tagged(Frames.READ_RESPONSE, true, 0, 0), "answer to the READ of no bytes");
                }
            }
            assertEquals(ord, pair.connectionCapabilities().maxOutboundReads().orElseThrow());
            assertEquals(crc, pair.connectionCapabilities().wire().contains("CRC on"));
            peer.shutdownOutput();
            peer.expectEnd();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldRejectInThePeersRevision(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport)) {
            for (int revision = 1; revision <= 2; revision++) {
                try (RawPeer peer = RawPeer.connect(server.address())) {
                    boolean enhanced = revision == 2;
                    peer.sendBytes(Frames.mpa(
                            Frames.REQUEST_KEY,
                            enhanced ? Frames.ENHANCED : 0,
                            revision,
                            enhanced ? Frames.depths(0, 1, 1) : new byte[0]));
                    server.request().reject(new byte[] {1, 2});
                    assertEquals(
                            TestBytes.hex(Frames.mpa(
                                    Frames.REPLY_KEY,
                                    Frames.REJECTED | (enhanced ? Frames.ENHANCED : 0),
                                    revision,
                                    enhanced ? Frames.depths(0, 0, 0, (byte) 1, (byte) 2) : new byte[] {1, 2})),
                            TestBytes.hex(peer.receiveMpa()));
                    peer.shutdownOutput(); // it closes
                    peer.expectEnd();
                }
            }
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFailTheAcceptWhenThePeerHasResetAfterItsRequest(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                Bystander bystander = new Bystander(server, transport)) {
            bystander.begin();
            Map<String, Long> before = server.trouble();
            ConnectionRequest request;
            try (RawPeer peer = RawPeer.connect(server.address())) {
                peer.sendBytes(
                        Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(Frames.PEER_TO_PEER, 1, 1)));
                request = server.request();
                peer.reset();
            }
            QueuePair pair = server.queuePair(request, QueuePairLimits.DEFAULT);
            VerbsException failure =
                    assertThrows(VerbsException.class, () -> request.accept(ConnectionParameters.DEFAULT));
            assertEquals(VerbsErrorCode.CONNECTION_LOST, failure.code());
            assertEquals(QueuePairState.ERROR, pair.state());
            TestDevice.await(
                    () -> "the failure to be counted, now " + server.trouble() + ", before " + before,
                    () -> !server.trouble().equals(before));
            bystander.finish();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldFlushTheQueuePairWhenNoReadyToReceiveComesInTime(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport, "handshake-timeout", "100");
                RawPeer peer = RawPeer.connect(server.address())) {
            peer.sendBytes(Frames.mpa(
                    Frames.REQUEST_KEY,
                    Frames.ENHANCED,
                    2,
                    Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 1, 1)));
            ConnectionRequest request = server.request();
            QueuePair pair = server.queuePair(request, QueuePairLimits.DEFAULT);
            TestDevice.Guarded memory = server.guarded(64, AccessFlag.RECEIVE_SINK);
            pair.postReceive(7, memory.region(), 0, 64);
            request.accept(ConnectionParameters.DEFAULT);
            peer.receiveMpa();
            peer.awaitEnd();
            assertEquals(List.of(new TestDevice.Completion(7, CompletionStatus.FLUSHED, 0, 0)), server.take(1));
            assertEquals(QueuePairState.ERROR, pair.state());
            String reason = pair.disconnected().toCompletableFuture().get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
            assertTrue(reason.contains("sent no ready-to-receive in time"), reason);
            assertEquals(1, server.counter("handshakeErrors"));
        }
    }

    /** `rdma_accept` does not wait for the peer either: one that says nothing must not hold up a loop that accepts. */
    @ParameterizedTest
    @EveryTransport
    void shouldServeTheNextPeerOnTheSameThreadWhenOneIsNeverReady(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer hostile = RawPeer.connect(server.address());
                RawPeer honest = RawPeer.connect(server.address())) {
            byte[] request = Frames.mpa(
                    Frames.REQUEST_KEY,
                    Frames.ENHANCED,
                    2,
                    Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 1, 1));
            hostile.sendBytes(request);
            QueuePair first = accept(server);
            hostile.receiveMpa();
            honest.sendBytes(request);
            QueuePair second = accept(server);
            honest.receiveMpa();
            honest.send(Frames.tagged(Frames.WRITE, true, 0, 0));
            honest.send(Frames.readRequest(1, 0, 0, 0, 0, 0));
            honest.expect(Frames.tagged(Frames.READ_RESPONSE, true, 0, 0), "answer to a READ of no bytes");
            assertEquals(QueuePairState.READY_TO_SEND, first.state());
            assertEquals(QueuePairState.READY_TO_SEND, second.state());
        }
    }

    private static QueuePair accept(TestDevice server) {
        try (ConnectionRequest request = server.request()) {
            QueuePair pair = server.queuePair(request, QueuePairLimits.DEFAULT);
            request.accept(ConnectionParameters.DEFAULT);
            return pair;
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldHoldBackWhatIsPostedUntilThePeerIsReady(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            peer.sendBytes(Frames.mpa(
                    Frames.REQUEST_KEY,
                    Frames.ENHANCED,
                    2,
                    Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 1, 1)));
            QueuePair pair = accept(server);
            TestDevice.Guarded memory = server.guarded(64).fill(3);
            assertEquals(PostStatus.ACCEPTED, pair.postSend(9, memory.region(), 0, 64, SendFlags.SIGNALLED));
            peer.receiveMpa();
            server.expectNoCompletion();
            peer.send(Frames.tagged(Frames.WRITE, true, 0, 0));
            peer.expect(Frames.send(1, TestBytes.pattern(3, 64)), "what was posted before");
            assertEquals(List.of(new TestDevice.Completion(9, CompletionStatus.SUCCESS, 0, 0)), server.take(1));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTerminateWhenTheFirstSegmentIsMalformed(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            peer.sendBytes(Frames.mpa(
                    Frames.REQUEST_KEY,
                    Frames.ENHANCED,
                    2,
                    Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 1, 1)));
            ConnectionRequest request = server.request();
            QueuePair pair = server.queuePair(request, QueuePairLimits.DEFAULT);
            request.accept(ConnectionParameters.DEFAULT);
            peer.receiveMpa();
            byte[] wrong = Frames.send(7, (byte) 1);
            peer.send(wrong);
            peer.expect(Frames.terminate(0x1203, wrong, true, false), "Terminate");
            peer.expectEnd();
            pair.disconnected().toCompletableFuture().get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
            assertEquals(QueuePairState.ERROR, pair.state());
        }
    }
}
