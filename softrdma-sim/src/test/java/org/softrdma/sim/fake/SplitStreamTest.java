package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;

/** However TCP cuts a valid stream, it has the effect of the unbroken one. */
class SplitStreamTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final long SEED = Long.getLong("softrdma.test.seed", 815L);
    private static final int ROUNDS = 40 / SAMPLE;
    private static final int STEP = SAMPLE == 1 ? 1 : 7;
    private static final int REGION = 70_000;
    private static final byte[] DATA = TestBytes.pattern(9, REGION);
    private static final byte[] TARGET = TestBytes.pattern(1, REGION);
    private static final byte[] SINK = TestBytes.pattern(2, REGION);
    private static final byte[] RECEIVED = TestBytes.pattern(3, REGION);

    /** A device and one stream with every kind of message, some across several segments and entries. */
    private static final class Bench implements AutoCloseable {
        private final boolean crc;
        private final int large;
        private final FakeDevice device;
        private final MemoryRegion target;
        private final MemoryRegion sink;
        private final MemoryRegion received;
        private final byte[] stream;

        /**
         * Makes one.
         *
         * @param large bytes of the largest payload; above 16 KiB it is received straight into its place
         * @param ring on if its sockets behave like those of io_uring
         * @param also more flags of the regions
         */
        Bench(boolean crc, int large, String ring, AccessFlag... also) {
            this.crc = crc;
            this.large = large;
            device = new FakeDevice("crc", crc ? "on" : "off", "ring", ring);
            target = device.region(
                    1, REGION, with(also, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
            sink = device.region(2, REGION, with(also, AccessFlag.READ_SINK));
            received = device.region(3, REGION, with(also, AccessFlag.RECEIVE_SINK));
            stream = makeStream();
        }

        private static AccessFlag[] with(AccessFlag[] also, AccessFlag... access) {
            return Stream.concat(Stream.of(access), Stream.of(also)).toArray(AccessFlag[]::new);
        }

        private byte[] makeStream() {
            byte[] data = DATA;
            byte[][] segments = {
                Frames.untagged(Frames.SEND, false, 0, 1, 0, TestBytes.slice(data, 0, 33)),
                Frames.untagged(Frames.SEND, false, 0, 1, 33),
                Frames.untagged(Frames.SEND, true, 0, 1, 33, TestBytes.slice(data, 33, 101)),
                Frames.tagged(
                        Frames.WRITE, false, target.rkey(), target.address() + 5, TestBytes.slice(data, 200, 211)),
                Frames.tagged(
                        Frames.WRITE,
                        true,
                        target.rkey(),
                        target.address() + 1000,
                        TestBytes.slice(data, 300, 300 + large)),
                Frames.readRequest(1, 11, 12, 77, target.rkey(), target.address() + 1000),
                Frames.tagged(
                        Frames.READ_RESPONSE, false, sink.lkey(), sink.address(), TestBytes.slice(data, 400, 413)),
                Frames.tagged(
                        Frames.READ_RESPONSE,
                        true,
                        sink.lkey(),
                        sink.address() + 13,
                        TestBytes.slice(data, 413, 400 + large)),
                Frames.untagged(Frames.SEND_SOLICITED, true, 0, 2, 0),
                Frames.untagged(Frames.SEND, true, 0, 3, 0, TestBytes.slice(data, 500, 500 + large))
            };
            byte[][] fpdus = new byte[segments.length][];
            for (int i = 0; i < segments.length; i++) {
                fpdus[i] = Frames.fpdu(segments[i], crc);
            }
            return TestBytes.concat(fpdus);
        }

        /** The same messages in the same order, each cut into segments of any size. */
        byte[] makeStream(Random random) {
            List<byte[]> segments = new ArrayList<>();
            untagged(segments, random, Frames.SEND, 1, TestBytes.slice(DATA, 0, 101));
            tagged(
                    segments,
                    random,
                    Frames.WRITE,
                    target.rkey(),
                    target.address() + 5,
                    TestBytes.slice(DATA, 200, 211));
            tagged(
                    segments,
                    random,
                    Frames.WRITE,
                    target.rkey(),
                    target.address() + 1000,
                    TestBytes.slice(DATA, 300, 300 + large));
            segments.add(Frames.readRequest(1, 11, 12, 77, target.rkey(), target.address() + 1000));
            tagged(
                    segments,
                    random,
                    Frames.READ_RESPONSE,
                    sink.lkey(),
                    sink.address(),
                    TestBytes.slice(DATA, 400, 400 + large));
            segments.add(Frames.untagged(Frames.SEND_SOLICITED, true, 0, 2, 0));
            untagged(segments, random, Frames.SEND, 3, TestBytes.slice(DATA, 500, 500 + large));
            return TestBytes.concat(
                    segments.stream().map(segment -> Frames.fpdu(segment, crc)).toArray(byte[][]::new));
        }

        private static void untagged(List<byte[]> segments, Random random, int opcode, int msn, byte[] message) {
            for (int at = 0, end = cut(random, 0, message.length); ; at = end, end = cut(random, at, message.length)) {
                boolean last = end == message.length;
                segments.add(Frames.untagged(opcode, last, 0, msn, at, TestBytes.slice(message, at, end)));
                if (last) {
                    return;
                }
            }
        }

        private static void tagged(
                List<byte[]> segments, Random random, int opcode, int stag, long address, byte[] message) {
            for (int at = 0, end = cut(random, 0, message.length); ; at = end, end = cut(random, at, message.length)) {
                boolean last = end == message.length;
                segments.add(Frames.tagged(opcode, last, stag, address + at, TestBytes.slice(message, at, end)));
                if (last) {
                    return;
                }
            }
        }

        /** Where a segment ends that begins somewhere: after none, few or many bytes. */
        private static int cut(Random random, int at, int length) {
            int most = random.nextBoolean() ? 40 : 65_000;
            return Math.min(length, at + random.nextInt(random.nextInt(8) == 0 ? 1 : most));
        }

        void run(BiConsumer<FakeSocket, byte[]> give, String how) {
            refill(target, TARGET);
            refill(sink, SINK);
            refill(received, RECEIVED);
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, new QueuePairLimits(4, 4, 1, 4, 0), 4)) {
                // The first RECV in pieces, one of them empty.
                pair.post(new ReceiveWorkRequest()
                        .receive(1)
                        .add(received, 0, 10)
                        .add(received, 20, 0)
                        .add(received, 30, 80)
                        .add(received, 200, 20));
                pair.postReceive(2, received, 300, 0);
                pair.postReceive(3, received, 400, REGION - 400);
                pair.postRead(4, sink, 0, large, 1, 2, SendFlags.SIGNALLED);
                // The passive side may not speak before it was spoken to, so its READ goes behind the first segment.
                socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), crc));
                device.run();

                give.accept(socket, stream);

                List<CompletionStatus> statuses = device.drain();
                assertEquals(4, statuses.size(), () -> how + ": " + statuses);
                statuses.forEach(status -> assertEquals(CompletionStatus.SUCCESS, status, how));
                byte[] data = DATA;
                assertArrayEquals(
                        TestBytes.concat(
                                Frames.fpdu(Frames.readRequest(1, sink.lkey(), sink.address(), large, 2, 1), crc),
                                Frames.fpdu(
                                        Frames.tagged(
                                                Frames.READ_RESPONSE, true, 11, 12, TestBytes.slice(data, 300, 377)),
                                        crc)),
                        FakeDevice.stream(socket),
                        how);
                byte[] expected = TARGET.clone();
                System.arraycopy(data, 200, expected, 5, 11);
                System.arraycopy(data, 300, expected, 1000, large);
                assertArrayEquals(expected, bytes(target), () -> how + ": WRITEs");
                expected = SINK.clone();
                System.arraycopy(data, 400, expected, 0, large);
                assertArrayEquals(expected, bytes(sink), () -> how + ": READ");
                expected = RECEIVED.clone();
                System.arraycopy(data, 0, expected, 0, 10);
                System.arraycopy(data, 10, expected, 30, 80);
                System.arraycopy(data, 90, expected, 200, 11);
                System.arraycopy(data, 500, expected, 400, large);
                assertArrayEquals(expected, bytes(received), () -> how + ": SENDs");
            } finally {
                socket.giveReset();
                device.drain();
            }
        }

        private static void refill(MemoryRegion region, byte[] bytes) {
            MemorySegment.copy(bytes, 0, region.memory(), ValueLayout.JAVA_BYTE, 0, REGION);
        }

        private static byte[] bytes(MemoryRegion region) {
            return region.memory().toArray(ValueLayout.JAVA_BYTE);
        }

        @Override
        public void close() {
            device.close();
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({
        "false,200,off", "true,200,off", "false,20000,off", "true,20000,off",
        "false,200,on", "true,200,on", "false,20000,on", "true,20000,on"
    })
    void shouldTakeAStreamSplitAnywhere(boolean crc, int large, String ring) {
        try (Bench bench = new Bench(crc, large, ring)) {
            int length = bench.stream.length;
            bench.run(FakeSocket::give, "unbroken");
            // Every position of a short stream; of a long one those near its borders and some between.
            for (int at = 0; at < length; at += large > 1000 && at > 600 && at % 4999 > 40 ? 97 : STEP) {
                int split = at;
                bench.run(
                        (socket, bytes) -> socket.give(TestBytes.slice(bytes, 0, split))
                                .give(TestBytes.slice(bytes, split, bytes.length)),
                        "split at " + at);
            }
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({
        "false,200,off", "true,200,off", "false,17000,off", "true,17000,off",
        "false,200,on", "true,200,on", "false,17000,on", "true,17000,on"
    })
    void shouldTakeAStreamInSmallPieces(boolean crc, int large, String ring) {
        try (Bench bench = new Bench(crc, large, ring)) {
            for (int piece = 1; piece < 80; piece += large > 1000 ? 13 : STEP) {
                int size = piece;
                bench.run(
                        (socket, bytes) -> {
                            for (int at = 0; at < bytes.length; at += size) {
                                socket.give(TestBytes.slice(bytes, at, Math.min(bytes.length, at + size)));
                            }
                        },
                        piece + " bytes a piece");
            }
        }
    }

    private static void giveInPieces(FakeSocket socket, byte[] bytes, Random random, int most) {
        for (int at = 0; at < bytes.length; ) {
            int end = Math.min(bytes.length, at + 1 + random.nextInt(most));
            socket.give(TestBytes.slice(bytes, at, end));
            at = end;
        }
    }

    /** ULPDUs of any size (RFC 5044 section 4.1) in pieces of any size. */
    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({
        "false,200,off", "true,200,off", "false,65000,off", "true,65000,off",
        "false,200,on", "true,200,on", "false,65000,on", "true,65000,on"
    })
    void shouldTakeMessagesInAnySegmentsAndPieces(boolean crc, int large, String ring) {
        try (Bench bench = new Bench(crc, large, ring)) {
            for (int round = 0; round < ROUNDS; round++) {
                long seed = SEED + 1000 + round;
                Random random = new Random(seed);
                byte[] stream = bench.makeStream(random);
                int most = 1 + random.nextInt(random.nextBoolean() ? 50 : 40_000);
                bench.run((socket, ignored) -> giveInPieces(socket, stream, random, most), "seed " + seed);
            }
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({
        "false,200,off", "true,200,off", "false,65000,off", "true,65000,off",
        "false,200,on", "true,200,on", "false,65000,on", "true,65000,on"
    })
    void shouldTakeAStreamInRandomPieces(boolean crc, int large, String ring) {
        try (Bench bench = new Bench(crc, large, ring)) {
            for (int round = 0; round < ROUNDS; round++) {
                long seed = SEED + round;
                Random random = new Random(seed);
                bench.run(
                        (socket, bytes) -> {
                            int most = 1 + random.nextInt(random.nextBoolean() ? 50 : 40_000);
                            giveInPieces(socket, bytes, random, most);
                        },
                        "seed " + seed);
            }
        }
    }

    /** Into memory that is polled bytes go another way, by words, with the end of each message held back. */
    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({
        "false,200,off", "true,200,off", "false,65000,off", "true,65000,off",
        "false,200,on", "true,200,on", "false,65000,on", "true,65000,on"
    })
    void shouldTakeMessagesIntoPolledMemoryInAnySegmentsAndPieces(boolean crc, int large, String ring) {
        try (Bench bench = new Bench(crc, large, ring, AccessFlag.POLLED)) {
            for (int round = 0; round < ROUNDS; round++) {
                long seed = SEED + 2000 + round;
                Random random = new Random(seed);
                byte[] stream = bench.makeStream(random);
                int most = 1 + random.nextInt(random.nextBoolean() ? 20 : 40_000);
                bench.run((socket, ignored) -> giveInPieces(socket, stream, random, most), "seed " + seed);
            }
        }
    }
}
