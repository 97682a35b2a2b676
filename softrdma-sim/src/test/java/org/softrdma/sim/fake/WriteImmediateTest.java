package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;

/** WRITE with immediate, both sides, against a peer made by hand (RFC 7306 section 6). */
class WriteImmediateTest {
    private static final int STEP = Integer.getInteger("softrdma.sample", 1) == 1 ? 1 : 5;
    private static final int SIGNALLED = SendFlags.SIGNALLED;
    private static final byte[] FIRST = Frames.tagged(Frames.WRITE, true, 0, 0);
    private static final QueuePairLimits LIMITS = new QueuePairLimits(8, 8, 1, 1, 64);
    private static final int SEGMENT = 96;
    private static final int BYTES = 1000;
    private static final long REMOTE = 0x1122_3344_5566_7000L;
    private static final int RKEY = 0x8877_6655;

    private static final class Bench implements AutoCloseable {
        private final FakeDevice device;
        private final MemoryRegion source;
        private final MemoryRegion target;
        private final MemoryRegion received;
        private final FakeSocket socket;
        private final QueuePair pair;

        Bench(String... options) {
            device = new FakeDevice(options);
            source = device.region(4, BYTES);
            target = device.region(5, BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            received = device.region(6, BYTES, AccessFlag.RECEIVE_SINK);
            socket = device.socket();
            pair = device.connect(socket, LIMITS, 2);
        }

        Bench give(byte[]... segments) {
            for (byte[] segment : segments) {
                socket.give(Frames.fpdu(segment, false));
            }
            device.run();
            return this;
        }

        byte[] write(boolean last, int at, int length) {
            return Frames.tagged(
                    Frames.WRITE, last, target.rkey(), target.address() + at, TestBytes.pattern(length, length));
        }

        void receive(long wrId, int length) {
            accepted(pair.postReceive(wrId, received, 0, length));
        }

        @Override
        public void close() {
            socket.giveReset();
            device.drain();
            pair.close();
            device.close();
        }
    }

    private static void accepted(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    private static byte[] source(int from, int to) {
        return TestBytes.slice(TestBytes.pattern(4, BYTES), from, to);
    }

    private static byte[] fpdus(byte[]... segments) {
        byte[][] fpdus = new byte[segments.length][];
        for (int i = 0; i < segments.length; i++) {
            fpdus[i] = Frames.fpdu(segments[i], false);
        }
        return TestBytes.concat(fpdus);
    }

    // ---- requester

    /** The numbers of queue 0 are those of SENDs and immediates together. */
    private static byte[] expected() {
        return fpdus(
                Frames.tagged(Frames.WRITE, true, RKEY, REMOTE, source(10, 15)),
                Frames.immediate(false, 1, -2),
                Frames.send(2, source(0, 3)),
                Frames.tagged(Frames.WRITE, false, RKEY, REMOTE, source(20, 20 + SEGMENT)),
                Frames.tagged(Frames.WRITE, false, RKEY, REMOTE + SEGMENT, source(20 + SEGMENT, 20 + 2 * SEGMENT)),
                Frames.tagged(
                        Frames.WRITE, true, RKEY, REMOTE + 2 * SEGMENT, source(20 + 2 * SEGMENT, 27 + 2 * SEGMENT)),
                Frames.immediate(true, 3, 0x0102_0304),
                Frames.tagged(Frames.WRITE, true, 0, 0),
                Frames.immediate(false, 4, 7),
                Frames.tagged(Frames.WRITE, true, RKEY, REMOTE, source(1, 4)),
                Frames.tagged(Frames.WRITE, true, RKEY, REMOTE, source(40, 60)),
                Frames.immediate(false, 5, 8),
                Frames.send(6, source(0, 1)));
    }

    private static void post(Bench bench) {
        QueuePair pair = bench.pair;
        accepted(pair.postWriteImmediate(1, bench.source, 10, 5, REMOTE, RKEY, -2, SIGNALLED));
        accepted(pair.postSend(2, bench.source, 0, 3, SIGNALLED));
        accepted(pair.postWriteImmediate(
                3, bench.source, 20, 7 + 2 * SEGMENT, REMOTE, RKEY, 0x0102_0304, SIGNALLED | SendFlags.SOLICITED));
        accepted(pair.postWriteImmediate(4, bench.source, 0, 0, 0, 0, 7, SIGNALLED));
        accepted(pair.postWrite(5, bench.source, 1, 3, REMOTE, RKEY, SIGNALLED));
        accepted(pair.postWriteImmediate(6, bench.source, 40, 20, REMOTE, RKEY, 8, SIGNALLED | SendFlags.INLINE));
        accepted(pair.postSend(7, bench.source, 0, 1, SIGNALLED));
    }

    private static final List<String> DONE =
            List.of("1 WRITE 0", "2 SEND 0", "3 WRITE 0", "4 WRITE 0", "5 WRITE 0", "6 WRITE 0", "7 SEND 0");

    @Tag("sampled")
    @ParameterizedTest
    @ValueSource(strings = {"1", "4096"})
    void shouldSendTheTwoMessagesAndCompleteOnceWhereverTheKernelStops(String copyBelow) {
        byte[] expected = expected();
        for (int stop = 0; stop <= expected.length; stop += STEP) {
            try (Bench bench = new Bench("segment", "" + SEGMENT, "copy-below", copyBelow)) {
                bench.socket.takeOnly(stop);
                post(bench);
                bench.give(FIRST);
                List<String> told = new ArrayList<>(bench.device.told());
                int early = told.size();
                int first = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0, new byte[5]), false).length;
                int second = first + Frames.fpdu(Frames.immediate(false, 1, 1), false).length;
                assertEquals(stop >= second, early > 0, "complete behind the immediate only, stop " + stop);
                bench.socket.takeAll();
                told.addAll(bench.device.told());
                assertEquals(DONE, told, "stop " + stop);
                assertEquals(TestBytes.hex(expected), TestBytes.hex(FakeDevice.stream(bench.socket)), "stop " + stop);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 19, 20, 21, 31, 33, 96, 111})
    void shouldSendTheTwoMessagesInFewBytesACall(int few) {
        try (Bench bench = new Bench("segment", "" + SEGMENT)) {
            bench.socket.taking(offered -> Math.min(few, offered));
            post(bench);
            bench.give(FIRST);
            assertEquals(DONE, bench.device.told());
            assertEquals(TestBytes.hex(expected()), TestBytes.hex(FakeDevice.stream(bench.socket)));
            assertEquals(4, bench.device.counter("sentSegments.immediate"));
        }
    }

    @Test
    void shouldHoldAFencedOneBackUntilTheReadIsComplete() {
        try (Bench bench = new Bench()) {
            bench.give(FIRST);
            accepted(bench.pair.postRead(1, bench.received, 0, 0, REMOTE, RKEY, SIGNALLED));
            accepted(
                    bench.pair.postWriteImmediate(2, bench.source, 0, 1, REMOTE, RKEY, 5, SIGNALLED | SendFlags.FENCE));
            bench.device.run();
            byte[] read = Frames.readRequest(1, 0, 0, 0, RKEY, REMOTE);
            assertArrayEquals(fpdus(read), FakeDevice.stream(bench.socket));
            bench.give(Frames.tagged(Frames.READ_RESPONSE, true, 0, 0));
            assertArrayEquals(
                    fpdus(
                            read,
                            Frames.tagged(Frames.WRITE, true, RKEY, REMOTE, source(0, 1)),
                            Frames.immediate(false, 1, 5)),
                    FakeDevice.stream(bench.socket));
            assertEquals(List.of("1 READ 0", "2 WRITE 0"), bench.device.told());
        }
    }

    /** Its buffer is deregistered behind the first segment of three. */
    @Test
    void shouldSendNoImmediateBehindAWriteThatFailed() {
        try (Bench bench = new Bench("segment", "" + SEGMENT, "copy-below", "4096")) {
            int fpdu = Frames.fpdu(Frames.tagged(Frames.WRITE, false, 0, 0, new byte[SEGMENT]), false).length;
            bench.socket.takeOnly(fpdu);
            accepted(bench.pair.postWriteImmediate(1, bench.source, 0, 3 * SEGMENT, REMOTE, RKEY, 5, SIGNALLED));
            bench.give(FIRST);
            bench.source.close();
            bench.socket.takeAll();
            assertEquals(List.of("1 LOCAL_PROTECTION_ERROR 0"), bench.device.told());
            byte[] stream = FakeDevice.stream(bench.socket);
            assertEquals(Frames.TERMINATE, stream[fpdu + 3] & 0xF, () -> TestBytes.hex(stream));
        }
    }

    @Test
    void shouldSayReadablyThatThePeerDoesNotKnowImmediates() throws Exception {
        try (Bench bench = new Bench()) {
            bench.give(FIRST);
            accepted(bench.pair.postWriteImmediate(1, bench.source, 0, 1, REMOTE, RKEY, 5, SIGNALLED));
            accepted(bench.pair.postReceive(2, bench.received, 0, 1));
            bench.device.run();
            bench.give(Frames.terminate(0x0206, Frames.immediate(false, 1, 5), false, false));
            assertEquals(
                    List.of("1 WRITE 0", "2 FLUSHED 206"), bench.device.told(), "a WRITE is complete when it has gone");
            assertEquals(
                    "the peer terminated the stream: unexpected opcode; this side has sent WRITEs with immediate"
                            + " (RFC 7306), which a peer need not know: agree with it on their use before",
                    bench.pair.disconnected().toCompletableFuture().get());
        }
    }

    // ---- responder

    @Test
    void shouldConsumeARecvAndTellTheLengthOfTheWrite() {
        try (Bench bench = new Bench()) {
            for (int i = 1; i <= 6; i++) {
                bench.receive(i, 10);
            }
            bench.give(
                    FIRST,
                    bench.write(false, 0, 100),
                    bench.write(true, 100, 50),
                    Frames.immediate(false, 1, Integer.MIN_VALUE),
                    bench.write(true, 200, 30),
                    Frames.tagged(Frames.WRITE, true, 0, 0),
                    Frames.immediate(true, 2, 2),
                    Frames.send(3, (byte) 1, (byte) 2),
                    Frames.immediate(false, 4, 4),
                    bench.write(true, 300, 7),
                    Frames.immediate(false, 5, 5),
                    Frames.immediate(false, 6, 6));
            assertEquals(
                    List.of(
                            "1 RECEIVE_WRITE_IMMEDIATE 150 immediate " + Integer.MIN_VALUE,
                            "2 RECEIVE_WRITE_IMMEDIATE 0 immediate 2",
                            "3 RECEIVE 2",
                            "4 RECEIVE_WRITE_IMMEDIATE 0 immediate 4",
                            "5 RECEIVE_WRITE_IMMEDIATE 7 immediate 5",
                            "6 RECEIVE_WRITE_IMMEDIATE 0 immediate 6"),
                    bench.device.told());
            byte[] expected = TestBytes.pattern(6, BYTES);
            expected[0] = 1; // the SEND's
            expected[1] = 2;
            assertArrayEquals(expected, bench.received.memory().toArray(ValueLayout.JAVA_BYTE), "buffers of RECVs");
            assertEquals(5, bench.device.counter("responderImmediates"));
            assertEquals(5, bench.device.counter("receivedSegments.immediate"));
            assertEquals(1, bench.device.counter("responderSends"));
        }
    }

    @ParameterizedTest
    @CsvSource({"off", "on"})
    void shouldTakeAWriteWithImmediateCutAnywhere(String crc) {
        boolean check = crc.equals("on");
        int length = 0;
        for (int at = 0; at == 0 || at < length; at++) {
            try (Bench bench = new Bench("crc", crc)) {
                byte[] stream = TestBytes.concat(
                        Frames.fpdu(FIRST, check),
                        Frames.fpdu(bench.write(false, 0, 33), check),
                        Frames.fpdu(bench.write(true, 33, 20), check),
                        Frames.fpdu(Frames.immediate(true, 1, 9), check));
                length = stream.length;
                bench.receive(1, 0);
                bench.socket.give(TestBytes.slice(stream, 0, at));
                bench.device.run();
                assertTrue(bench.device.told().isEmpty(), "cut at " + at);
                bench.socket.give(TestBytes.slice(stream, at, length));
                assertEquals(List.of("1 RECEIVE_WRITE_IMMEDIATE 53 immediate 9"), bench.device.told(), "cut at " + at);
                byte[] written = TestBytes.concat(TestBytes.pattern(33, 33), TestBytes.pattern(20, 20));
                assertArrayEquals(
                        written, bench.target.memory().asSlice(0, 53).toArray(ValueLayout.JAVA_BYTE), "cut at " + at);
            }
        }
    }
}
