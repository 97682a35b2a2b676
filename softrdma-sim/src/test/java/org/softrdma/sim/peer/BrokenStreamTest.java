package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.net.transport.TransportKinds;
import org.softrdma.verbs.CompletionStatus;

/** Streams that are cut, corrupted, terminated or reset by the peer. */
class BrokenStreamTest {
    private static final byte[] SEND = Frames.send(1, TestBytes.pattern(41, 100));

    private static void expectEnd(Scene scene, Map<String, Long> before, Map<String, Long> increments)
            throws Exception {
        expectEnd(scene, before, increments, scene.allFlushed(true));
    }

    private static void expectEnd(
            Scene scene, Map<String, Long> before, Map<String, Long> increments, Map<Long, CompletionStatus> statuses)
            throws Exception {
        Map<String, Long> all = new HashMap<>(increments);
        all.put("connectionsClosed", 1L);
        scene.server.awaitTrouble(before, all);
        scene.expectEnded(statuses);
        scene.expectMemoryUntouched();
        scene.bystander.finish();
        scene.server.awaitTrouble(before, all);
    }

    // ---- CRC

    static Stream<Arguments> flippedBytes() {
        byte[] fpdu = Frames.fpdu(Frames.send(1, new byte[5]), true);
        // Not the length field: a wrong length shows as a wrong CRC only once that many bytes have come.
        return IntStream.range(2, fpdu.length)
                .boxed()
                .flatMap(at -> TransportKinds.names().map(transport -> Arguments.of(at, transport)));
    }

    @ParameterizedTest
    @MethodSource("flippedBytes")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldTerminateWhenAByteIsFlipped(int at, String transport) throws Exception {
        try (Scene scene = new Scene(transport, true, 2)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            byte[] fpdu = Frames.fpdu(Frames.send(1, new byte[5]), true);
            fpdu[at] ^= 0x10;

            scene.peer.sendBytes(fpdu);

            scene.peer.expect(Frames.terminate(0x2002, fpdu, false, false), "Terminate");
            scene.peer.expectEnd();
            expectEnd(scene, before, Map.of("crcErrors", 1L, "terminatesSent", 1L));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldPlaceNothingOfASegmentWhoseCrcIsWrong(String transport) throws Exception {
        try (Scene scene = new Scene(transport, true, 2)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            byte[] fpdu = Frames.fpdu(
                    Frames.tagged(
                            Frames.WRITE,
                            true,
                            scene.readWrite.region().rkey(),
                            scene.readWrite.region().address(),
                            TestBytes.pattern(77, Scene.REGION_BYTES)),
                    true);
            fpdu[fpdu.length - 1] ^= 1;

            scene.peer.sendBytes(fpdu);

            scene.peer.expect(Frames.terminate(0x2002, fpdu, false, false), "Terminate");
            scene.peer.expectEnd();
            expectEnd(scene, before, Map.of("crcErrors", 1L, "terminatesSent", 1L));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldIgnoreCrcFieldPadAndReservedBitsWhenCrcIsOff(String transport) throws Exception {
        try (Scene scene = new Scene(transport, false, 2)) {
            byte[] fpdu = Frames.fpdu(Frames.send(1, TestBytes.pattern(41, 5)), false);
            for (int i = fpdu.length - 4 - 3; i < fpdu.length; i++) {
                fpdu[i] = (byte) 0xEE;
            }
            fpdu[2] |= 0x3C; // DDP reserved (RFC 5041 section 4.1)
            fpdu[3] |= 0x30; // RDMAP reserved (RFC 5040 section 4.1)
            scene.peer.sendBytes(fpdu);
            assertEquals(
                    new TestDevice.Completion(Scene.FIRST_RECV_WR, CompletionStatus.SUCCESS, 0, 5),
                    scene.server.take(1).getFirst());
            assertArrayEquals(TestBytes.pattern(41, 5), scene.received.bytes(0, 5));
            scene.expectMemoryUntouched();
        }
    }

    // ---- cut

    static Stream<Arguments> cuts() {
        int length = Frames.fpdu(SEND, false).length;
        return IntStream.of(1, 2, 3, 4, 19, 20, 21, 60, length - 5, length - 4, length - 1)
                .boxed()
                .flatMap(at -> Stream.of(
                        Arguments.of(at, "epoll", false),
                        Arguments.of(at, "epoll", true),
                        Arguments.of(at, "uring", false),
                        Arguments.of(at, "uring", true),
                        Arguments.of(at, "nio", false)));
    }

    @ParameterizedTest
    @MethodSource("cuts")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldEndWithoutTerminateWhenTheStreamIsCutWithinASegment(int at, String transport, boolean crc)
            throws Exception {
        try (Scene scene = new Scene(transport, crc, 2)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();

            scene.peer.sendBytes(TestBytes.slice(Frames.fpdu(SEND, crc), 0, at));
            scene.peer.shutdownOutput();

            scene.peer.expectEnd();
            expectEnd(scene, before, Map.of());
            assertEquals(
                    "the peer closed the connection in the middle of a message",
                    scene.pair.disconnected().toCompletableFuture().join());
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,false", "epoll,true", "nio,false"})
    void shouldEndQuietlyWhenTheStreamEndsBetweenSegments(String transport, boolean crc) throws Exception {
        try (Scene scene = new Scene(transport, crc, 2)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            scene.peer.shutdownOutput();
            scene.peer.expectEnd();
            expectEnd(scene, before, Map.of());
            assertEquals(
                    "the peer closed the connection",
                    scene.pair.disconnected().toCompletableFuture().join());
        }
    }

    // ---- Terminate from the peer

    private static byte[] terminate(int code, byte... rest) {
        return Frames.untagged(
                Frames.TERMINATE,
                true,
                2,
                1,
                0,
                TestBytes.concat(ByteBuffer.allocate(4).putInt(code << 16).array(), rest));
    }

    static Stream<Arguments> terminates() {
        byte[] nonsense = TestBytes.pattern(13, 46);
        byte[] aboutRead = Frames.terminate(0x0101, Frames.readRequest(1, 1, 2, 3, 4, 5), true, true);
        byte[] aboutUnknownRead = Frames.terminate(0x0101, Frames.readRequest(9, 1, 2, 3, 4, 5), true, true);
        byte[] aboutSend = Frames.terminate(0x1205, SEND, true, false);
        CompletionStatus flushed = CompletionStatus.FLUSHED;
        List<Arguments> all = List.of(
                Arguments.of("of a control field only", terminate(0x0206), flushed, 0x0206),
                Arguments.of("about the device's READ", aboutRead, CompletionStatus.REMOTE_ACCESS_ERROR, 0x0101),
                Arguments.of(
                        "about the READ, operation error",
                        Frames.terminate(0x0206, Frames.readRequest(1, 1, 2, 3, 4, 5), true, false),
                        CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                        0x0206),
                Arguments.of(
                        "about the READ, catastrophic",
                        Frames.terminate(0x0207, Frames.readRequest(1, 1, 2, 3, 4, 5), true, false),
                        CompletionStatus.REMOTE_OPERATION_ERROR,
                        0x0207),
                Arguments.of(
                        "about the READ, protection error without a code",
                        Frames.terminate(0x01FF, Frames.readRequest(1, 1, 2, 3, 4, 5), true, true),
                        CompletionStatus.REMOTE_ACCESS_ERROR,
                        0x01FF),
                Arguments.of("about a READ that never was", aboutUnknownRead, flushed, 0x0101),
                Arguments.of("about a SEND", aboutSend, flushed, 0x1205),
                Arguments.of("of nonsense", Frames.untagged(Frames.TERMINATE, true, 2, 1, 0, nonsense), flushed, -1),
                Arguments.of(
                        "with headers promised that are not there",
                        Frames.untagged(Frames.TERMINATE, true, 2, 1, 0, Frames.bytes("0101 E000")),
                        flushed,
                        0x0101),
                Arguments.of(
                        "without its control field", Frames.untagged(Frames.TERMINATE, true, 2, 1, 0), flushed, 0x02FF),
                Arguments.of(
                        "with part of its control field",
                        Frames.untagged(Frames.TERMINATE, true, 2, 1, 0, (byte) 1, (byte) 1, (byte) 1),
                        flushed,
                        0x02FF),
                Arguments.of("far too long", terminate(0x0206, new byte[60_000]), flushed, 0x0206),
                Arguments.of("with an unknown code", terminate(0xFEDC), flushed, 0xFEDC));
        return all.stream()
                .flatMap(one -> Stream.of(
                                new Object[] {"epoll", false},
                                new Object[] {"epoll", true},
                                new Object[] {"uring", false},
                                new Object[] {"uring", true},
                                new Object[] {"nio", false})
                        .map(how ->
                                Arguments.of(one.get()[0], one.get()[1], one.get()[2], one.get()[3], how[0], how[1])));
    }

    @ParameterizedTest(name = "Terminate {0}, {4}, crc={5}")
    @MethodSource("terminates")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldEndWithoutAnswerWhenThePeerTerminates(
            String name, byte[] terminate, CompletionStatus ofRead, int vendorCode, String transport, boolean crc)
            throws Exception {
        try (Scene scene = new Scene(transport, crc, 0)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();

            scene.peer.send(terminate);

            scene.peer.expectEnd();
            scene.server.awaitTrouble(before, Map.of("terminatesReceived", 1L, "connectionsClosed", 1L));
            TestDevice.Completion read = scene.server.take(1).getFirst();
            assertEquals(Scene.READ_WR, read.wrId());
            assertEquals(ofRead, read.status());
            if (vendorCode >= 0) {
                assertEquals(vendorCode, read.vendorCode(), "vendor code of the READ");
            }
            scene.expectMemoryUntouched();
            scene.bystander.finish();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTakeOnlyTheReadThatThePeerTerminates(String transport) throws Exception {
        try (Scene scene = new Scene(transport, false, 0)) {
            scene.postRead(1, 1, 8);
            scene.postRead(2, 2, 8);
            scene.postRead(3, 3, 8);
            scene.peer.send(Frames.terminate(0x0101, Frames.readRequest(2, 0, 0, 0, 0, 0), true, true));
            assertEquals(
                    List.of(CompletionStatus.FLUSHED, CompletionStatus.REMOTE_ACCESS_ERROR, CompletionStatus.FLUSHED),
                    scene.server.take(3).stream()
                            .map(TestDevice.Completion::status)
                            .toList());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldIgnoreWhatComesBehindAnError(String transport) throws Exception {
        try (Scene scene = new Scene(transport, false, 2)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            byte[] wrong = Frames.send(5, (byte) 1);
            byte[] write = Frames.tagged(
                    Frames.WRITE,
                    true,
                    scene.readWrite.region().rkey(),
                    scene.readWrite.region().address(),
                    new byte[64]);

            scene.peer.send(wrong, write, wrong, Frames.send(1, (byte) 1), terminate(0x0206));

            scene.peer.expect(Frames.terminate(0x1203, wrong, true, false), "Terminate");
            scene.peer.expectEnd();
            expectEnd(scene, before, Map.of("protocolErrors", 1L, "terminatesSent", 1L));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCloseInTimeWhenThePeerDoesNotEndItsSide(String transport) throws Exception {
        try (Scene scene = new Scene(transport, false, 2, "linger-timeout", "50")) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            byte[] wrong = Frames.send(5, (byte) 1);
            scene.peer.send(wrong);
            scene.peer.expect(Frames.terminate(0x1203, wrong, true, false), "Terminate");
            scene.peer.expectEnd();
            // Nobody reads it any more: sooner or later the send fails, because the device has closed.
            TestDevice.await("the device to close its socket", () -> {
                try {
                    scene.peer.sendBytes(new byte[1]);
                    return false;
                } catch (java.io.IOException e) {
                    return true;
                }
            });
            expectEnd(scene, before, Map.of("protocolErrors", 1L, "terminatesSent", 1L));
        }
    }

    // ---- reset

    enum Phase {
        IDLE,
        WITHIN_A_HEADER,
        WITHIN_A_SEND,
        WITHIN_A_WRITE,
        WITHIN_A_READ_RESPONSE,
        READS_UNANSWERED
    }

    static Stream<Arguments> phases() {
        return Stream.of(Phase.values())
                .flatMap(phase -> Stream.of(
                        Arguments.of(phase, "epoll", false),
                        Arguments.of(phase, "epoll", true),
                        Arguments.of(phase, "uring", false),
                        Arguments.of(phase, "uring", true),
                        Arguments.of(phase, "nio", false)));
    }

    @ParameterizedTest
    @MethodSource("phases")
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldEndWhenThePeerResets(Phase phase, String transport, boolean crc) throws Exception {
        try (Scene scene = new Scene(transport, crc, 2)) {
            scene.postRead();
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            byte[] whole = switch (phase) {
                case IDLE -> new byte[0];
                case WITHIN_A_HEADER -> TestBytes.slice(Frames.fpdu(SEND, crc), 0, 7);
                case WITHIN_A_SEND -> TestBytes.slice(Frames.fpdu(SEND, crc), 0, 50);
                case WITHIN_A_WRITE ->
                    TestBytes.slice(
                            Frames.fpdu(
                                    Frames.tagged(
                                            Frames.WRITE,
                                            true,
                                            scene.readWrite.region().rkey(),
                                            scene.readWrite.region().address(),
                                            TestBytes.pattern(1, 3000)),
                                    crc),
                            0,
                            1000);
                case WITHIN_A_READ_RESPONSE ->
                    TestBytes.slice(
                            Frames.fpdu(
                                    Frames.tagged(
                                            Frames.READ_RESPONSE,
                                            true,
                                            scene.sink.region().lkey(),
                                            scene.sink.region().address(),
                                            new byte[Scene.REGION_BYTES]),
                                    crc),
                            0,
                            1000);
                case READS_UNANSWERED ->
                    Frames.fpdu(
                            Frames.readRequest(
                                    1,
                                    11,
                                    12,
                                    Scene.REGION_BYTES,
                                    scene.readWrite.region().rkey(),
                                    scene.readWrite.region().address()),
                            crc);
            };
            scene.peer.sendBytes(whole);
            scene.peer.reset();
            expectEnd(scene, before, Map.of());
        }
    }
}
