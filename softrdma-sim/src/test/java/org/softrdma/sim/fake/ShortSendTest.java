package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/**
 * Whatever part of a batch TCP takes, the bytes on the wire are those of one unbroken send, which are made by hand here: at
 * every position, with every small number of bytes a call, and with random ones.
 */
class ShortSendTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 4_711L);
    private static final int SEGMENT = 96;
    private static final int SOURCE_BYTES = 1200;
    private static final byte[] FIRST = Frames.tagged(Frames.WRITE, true, 0, 0);
    private static final long REMOTE = 0x1122_3344_5566_7000L;
    private static final int RKEY = 0x8877_6655;

    enum Kind {
        READ_RESPONSES,
        WRITES,
        SENDS,
        INLINE,
        READ_REQUESTS,
        ATOMIC_REQUESTS
    }

    /** A device, a source of bytes in it, and what each kind of traffic looks like on the wire. */
    private static final class Bench implements AutoCloseable {
        private final FakeDevice device;
        private final MemoryRegion source;
        private final MemoryRegion sink;
        private final boolean crc;

        Bench(boolean crc, boolean copied, String ring) {
            this.crc = crc;
            device = new FakeDevice(
                    "crc",
                    crc ? "on" : "off",
                    "segment",
                    "" + SEGMENT,
                    "copy-below",
                    copied ? "4096" : "1",
                    "ring",
                    ring);
            source = device.region(7, SOURCE_BYTES, AccessFlag.REMOTE_READ);
            sink = device.region(8, SOURCE_BYTES, AccessFlag.READ_SINK);
        }

        /** Bytes that the peer says first, all in one piece. */
        private byte[] incoming(Kind kind) {
            if (kind != Kind.READ_RESPONSES) {
                return Frames.fpdu(FIRST, crc);
            }
            byte[][] segments = new byte[READS.length][];
            for (int i = 0; i < READS.length; i++) {
                segments[i] = Frames.fpdu(
                        Frames.readRequest(
                                i + 1, 50 + i, 1000L * i, READS[i], source.rkey(), source.address() + 3L * i),
                        crc);
            }
            return TestBytes.concat(segments);
        }

        /** Lengths of READs: empty, one byte, odd, one segment, several. */
        private static final int[] READS = {5, 0, SEGMENT, 1, SEGMENT + 1, 3 * SEGMENT - 1, 17};

        private static final int ATOMICS = 8;

        private void post(Kind kind, QueuePair pair) {
            switch (kind) {
                case READ_RESPONSES -> {
                    // The peer asks.
                }
                case WRITES, SENDS, INLINE -> {
                    for (int i = 0; i < MESSAGES.length; i++) {
                        SendWorkRequest request = new SendWorkRequest();
                        int flags = SendFlags.SIGNALLED | (kind == Kind.INLINE ? SendFlags.INLINE : 0);
                        if (kind == Kind.SENDS && i == INVALIDATING) {
                            request.sendInvalidate(i, RKEY + i, flags);
                        } else if (kind == Kind.SENDS || (kind == Kind.INLINE && i % 2 == 0)) {
                            request.send(i, flags | (i == 1 ? SendFlags.SOLICITED : 0));
                        } else {
                            request.write(i, REMOTE + i, RKEY + i, flags);
                        }
                        for (int[] piece : MESSAGES[i]) {
                            if (kind == Kind.INLINE) {
                                request.add(source.memory().address() + piece[0], piece[1], 0);
                            } else {
                                request.add(source, piece[0], piece[1]);
                            }
                        }
                        assertEquals(PostStatus.ACCEPTED, pair.post(request));
                    }
                }
                case ATOMIC_REQUESTS -> {
                    for (int i = 0; i < ATOMICS; i++) {
                        long at = REMOTE + 8L * i;
                        assertEquals(
                                PostStatus.ACCEPTED,
                                switch (i % 3) {
                                    case 0 -> pair.postFetchAndAdd(i, sink, i, at, RKEY + i, -i, SendFlags.SIGNALLED);
                                    case 1 ->
                                        pair.postCompareAndSwap(
                                                i, sink, i, at, RKEY + i, i, -1L << i, SendFlags.SIGNALLED);
                                    default -> pair.postRead(i, sink, i, i, at, RKEY + i, SendFlags.SIGNALLED);
                                });
                    }
                }
                case READ_REQUESTS -> {
                    for (int i = 0; i < READS.length; i++) {
                        assertEquals(
                                PostStatus.ACCEPTED,
                                pair.postRead(i, sink, i, READS[i], REMOTE + i, RKEY + i, SendFlags.SIGNALLED));
                    }
                }
            }
        }

        /** Messages as pieces of the source: offset, length. Empty pieces at the edges, several segments in and across pieces. */
        private static final int[][][] MESSAGES = {
            {{0, 11}},
            {{5, 0}, {100, 3}, {7, 0}, {200, SEGMENT - 3}},
            {},
            {{300, 2 * SEGMENT + 5}, {20, 1}, {400, 40}, {800, 0}},
            {{0, SEGMENT}}
        };

        /** Number of the message of several segments that invalidates a key when it is a SEND. */
        private static final int INVALIDATING = 3;

        /** The stream that the device must send. */
        private byte[] expected(Kind kind) {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            switch (kind) {
                case READ_RESPONSES -> {
                    for (int i = 0; i < READS.length; i++) {
                        byte[] payload = TestBytes.slice(TestBytes.pattern(7, SOURCE_BYTES), 3 * i, 3 * i + READS[i]);
                        putTagged(stream, Frames.READ_RESPONSE, 50 + i, 1000L * i, payload);
                    }
                }
                case ATOMIC_REQUESTS -> {
                    for (int i = 0; i < ATOMICS; i++) {
                        long at = REMOTE + 8L * i;
                        stream.writeBytes(Frames.fpdu(
                                switch (i % 3) {
                                    case 0 -> Frames.fetchAdd(i + 1, RKEY + i, at, -i);
                                    case 1 -> Frames.compareSwap(i + 1, RKEY + i, at, i, -1L << i);
                                    default ->
                                        Frames.readRequest(i + 1, sink.lkey(), sink.address() + i, i, RKEY + i, at);
                                },
                                crc));
                    }
                }
                case READ_REQUESTS -> {
                    for (int i = 0; i < READS.length; i++) {
                        boolean empty = READS[i] == 0;
                        stream.writeBytes(Frames.fpdu(
                                Frames.readRequest(
                                        i + 1,
                                        empty ? 0 : sink.lkey(),
                                        empty ? 0 : sink.address() + i,
                                        READS[i],
                                        RKEY + i,
                                        REMOTE + i),
                                crc));
                    }
                }
                case WRITES, SENDS, INLINE -> {
                    int msn = 1;
                    for (int i = 0; i < MESSAGES.length; i++) {
                        ByteArrayOutputStream payload = new ByteArrayOutputStream();
                        for (int[] piece : MESSAGES[i]) {
                            payload.write(TestBytes.pattern(7, SOURCE_BYTES), piece[0], piece[1]);
                        }
                        if (kind == Kind.SENDS || (kind == Kind.INLINE && i % 2 == 0)) {
                            boolean invalidates = kind == Kind.SENDS && i == INVALIDATING;
                            int opcode = i == 1 ? Frames.SEND_SOLICITED : Frames.SEND;
                            putSend(
                                    stream,
                                    invalidates ? Frames.SEND_INVALIDATE : opcode,
                                    invalidates ? RKEY + i : 0,
                                    msn++,
                                    payload.toByteArray());
                        } else {
                            putTagged(stream, Frames.WRITE, RKEY + i, REMOTE + i, payload.toByteArray());
                        }
                    }
                }
            }
            return stream.toByteArray();
        }

        private void putTagged(ByteArrayOutputStream stream, int opcode, int stag, long offset, byte[] message) {
            for (int at = 0; at == 0 || at < message.length; at += SEGMENT) {
                int end = Math.min(message.length, at + SEGMENT);
                stream.writeBytes(Frames.fpdu(
                        Frames.tagged(
                                opcode, end == message.length, stag, offset + at, TestBytes.slice(message, at, end)),
                        crc));
            }
        }

        private void putSend(ByteArrayOutputStream stream, int opcode, int stag, int msn, byte[] message) {
            for (int at = 0; at == 0 || at < message.length; at += SEGMENT) {
                int end = Math.min(message.length, at + SEGMENT);
                byte[] segment =
                        Frames.untagged(opcode, end == message.length, 0, msn, at, TestBytes.slice(message, at, end));
                stream.writeBytes(Frames.fpdu(
                        java.nio.ByteBuffer.wrap(segment).putInt(2, stag).array(), crc));
            }
        }

        /** Runs one connection; {@code taking} begins behind the MPA reply. */
        byte[] run(Kind kind, LongUnaryOperator taking) {
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, new QueuePairLimits(16, 1, 8, 1, 512), 16)) {
                post(kind, pair);
                socket.taking(taking).give(incoming(kind));
                List<CompletionStatus> statuses = device.drain();
                int completions = switch (kind) {
                    case READ_RESPONSES, READ_REQUESTS, ATOMIC_REQUESTS -> 0;
                    case WRITES, SENDS, INLINE -> MESSAGES.length;
                };
                assertEquals(completions, statuses.size(), () -> "completions, statuses " + statuses);
                statuses.forEach(status -> assertEquals(CompletionStatus.SUCCESS, status));
                return FakeDevice.stream(socket);
            } finally {
                socket.giveReset();
                device.drain();
            }
        }

        @Override
        public void close() {
            device.close();
        }
    }

    private static void check(byte[] expected, byte[] found, String how) {
        if (!java.util.Arrays.equals(expected, found)) {
            int at = java.util.Arrays.mismatch(expected, found);
            assertEquals(TestBytes.hex(expected), TestBytes.hex(found), () -> how + ": first difference at byte " + at);
        }
    }

    static Stream<Arguments> everything() {
        return Stream.of(Kind.values())
                .flatMap(kind -> Stream.of(
                        Arguments.of(kind, false, false, "off"),
                        Arguments.of(kind, false, true, "off"),
                        Arguments.of(kind, true, true, "off"),
                        Arguments.of(kind, false, false, "on"),
                        Arguments.of(kind, true, true, "on")));
    }

    @ParameterizedTest(name = "{0}, crc={1}, copied={2}, like io_uring={3}")
    @MethodSource("everything")
    void shouldSendTheSameBytesWhenTheKernelStopsAnywhere(Kind kind, boolean crc, boolean copied, String ring) {
        try (Bench bench = new Bench(crc, copied, ring)) {
            byte[] expected = bench.expected(kind);
            check(expected, bench.run(kind, offered -> offered), "unbroken");
            for (int position = 0; position <= expected.length; position++) {
                int stop = position;
                boolean[] first = {true};
                byte[] found = bench.run(kind, offered -> {
                    boolean here = first[0];
                    first[0] = false;
                    return here ? stop : offered;
                });
                check(expected, found, "the first call takes " + stop + " bytes");
            }
        }
    }

    @ParameterizedTest(name = "{0}, crc={1}, copied={2}, like io_uring={3}")
    @MethodSource("everything")
    void shouldSendTheSameBytesWhenEachCallTakesFew(Kind kind, boolean crc, boolean copied, String ring) {
        try (Bench bench = new Bench(crc, copied, ring)) {
            byte[] expected = bench.expected(kind);
            for (int bytes = 1; bytes < 130; bytes++) {
                int few = bytes;
                check(expected, bench.run(kind, offered -> few), few + " bytes a call");
            }
        }
    }

    @ParameterizedTest(name = "{0}, crc={1}, copied={2}, like io_uring={3}")
    @MethodSource("everything")
    void shouldSendTheSameBytesWhenCallsTakeRandomNumbers(Kind kind, boolean crc, boolean copied, String ring) {
        try (Bench bench = new Bench(crc, copied, ring)) {
            byte[] expected = bench.expected(kind);
            for (int round = 0; round < 200; round++) {
                long seed = SEED + round;
                Random random = new Random(seed);
                check(
                        expected,
                        bench.run(kind, offered -> random.nextInt(4) == 0 ? 0 : random.nextLong(offered + 1)),
                        "seed " + seed);
            }
        }
    }

    /** The region is swapped while the kernel takes part of a response, and what it had been is deregistered and spoilt. */
    @Test
    void shouldSendTheRestOfWhatItBeganWhenTheRegionIsSwappedAndDeregistered() {
        int length = SEGMENT - 1;
        for (int taken = 0; taken < 16 + length; taken++) {
            try (FakeDevice device = new FakeDevice("segment", "" + SEGMENT, "copy-below", "1");
                    MemoryRegion source =
                            device.region(7, SOURCE_BYTES, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED)) {
                MemoryRegion other = device.region(9, SOURCE_BYTES, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
                FakeSocket socket = device.socket();
                try (QueuePair pair = device.connect(socket, QueuePairLimits.of(1, 1), 1)) {
                    assertEquals(QueuePairState.READY_TO_SEND, pair.state());
                    byte[] request = Frames.readRequest(1, 5, 0, length, source.rkey(), source.address());
                    int part = taken;
                    MemorySegment begun = source.memory();
                    int[] calls = {0};
                    socket.taking(offered -> {
                                switch (calls[0]++) {
                                    case 0 -> source.swap(other);
                                    case 1 -> {
                                        other.close();
                                        begun.fill((byte) 0xEE);
                                    }
                                    default -> {}
                                }
                                return calls[0] == 1 ? part : offered;
                            })
                            .give(Frames.fpdu(request, false));
                    device.drain();
                    // Nothing had gone yet: the response is made anew, of what the region is now.
                    byte[] memory = TestBytes.slice(TestBytes.pattern(part == 0 ? 9 : 7, SOURCE_BYTES), 0, length);
                    byte[] response = Frames.tagged(Frames.READ_RESPONSE, true, 5, 0, memory);
                    check(Frames.fpdu(response, false), FakeDevice.stream(socket), part + " bytes before the swap");
                } finally {
                    socket.giveReset();
                    device.drain();
                }
            }
        }
    }

    /** The region of a WRITE is deregistered when the kernel has taken part of a segment of it. */
    @Test
    void shouldFailTheRequestWhoseRegionIsDeregisteredInTheMiddleOfASegment() {
        for (int taken = 17; taken < 16 + SEGMENT; taken++) {
            try (FakeDevice device = new FakeDevice("crc", "off", "segment", "" + SEGMENT, "copy-below", "1")) {
                MemoryRegion source = device.region(7, SOURCE_BYTES);
                FakeSocket socket = device.socket();
                try (QueuePair pair = device.connect(socket, QueuePairLimits.of(2, 1), 1)) {
                    socket.takeOnly(taken).give(Frames.fpdu(FIRST, false));
                    for (int i = 0; i < 2; i++) {
                        assertEquals(
                                PostStatus.ACCEPTED,
                                pair.postWrite(i, source, 0, 2 * SEGMENT, REMOTE, RKEY, SendFlags.SIGNALLED));
                    }
                    device.run();
                    source.close();
                    socket.takeAll();
                    assertEquals(
                            List.of(CompletionStatus.LOCAL_PROTECTION_ERROR, CompletionStatus.FLUSHED), device.drain());
                    assertEquals(QueuePairState.ERROR, pair.state());
                    assertTrue(socket.isClosed(), "the socket is closed");
                    assertEquals(taken, FakeDevice.stream(socket).length);
                }
            }
        }
    }

    /**
     * The region is deregistered and spoilt between two turns, when part of a response of several segments has gone: what was
     * begun is sent as it was or not at all, and no further segment goes but a Terminate.
     */
    @Test
    void shouldSendNothingOfARegionThatWasDeregisteredBetweenTurns() {
        int length = 5 * SEGMENT;
        byte[] memory = TestBytes.slice(TestBytes.pattern(7, SOURCE_BYTES), 0, length);
        byte[][] segments = new byte[5][];
        for (int i = 0; i < segments.length; i++) {
            byte[] payload = TestBytes.slice(memory, i * SEGMENT, (i + 1) * SEGMENT);
            segments[i] = Frames.fpdu(
                    Frames.tagged(Frames.READ_RESPONSE, i == segments.length - 1, 5, (long) i * SEGMENT, payload),
                    false);
        }
        byte[] response = TestBytes.concat(segments);
        int fpdu = segments[0].length;
        int terminated = 0;
        for (int taken = 1; taken <= 2 * fpdu; taken++) {
            try (FakeDevice device = new FakeDevice("segment", "" + SEGMENT, "copy-below", "1")) {
                MemoryRegion source = device.region(7, SOURCE_BYTES, AccessFlag.REMOTE_READ);
                FakeSocket socket = device.socket();
                try (QueuePair pair = device.connect(socket, QueuePairLimits.of(1, 1), 1)) {
                    assertEquals(QueuePairState.READY_TO_SEND, pair.state());
                    byte[] request = Frames.readRequest(1, 5, 0, length, source.rkey(), source.address());
                    int part = taken;
                    socket.taking(offered -> Math.max(0, part - FakeDevice.stream(socket).length))
                            .give(Frames.fpdu(request, false));
                    while (FakeDevice.stream(socket).length < part) {
                        assertTrue(device.device().progress(0) > 0, "the device rests before " + part + " bytes");
                    }
                    MemorySegment begun = source.memory();
                    source.close();
                    begun.fill((byte) 0xEE);
                    socket.taking(offered -> offered);
                    device.drain();
                    byte[] stream = FakeDevice.stream(socket);
                    int mismatch = Arrays.mismatch(stream, response);
                    int asBegun = mismatch < 0 || mismatch == stream.length ? stream.length : mismatch / fpdu * fpdu;
                    assertTrue(asBegun < response.length, () -> "all of it was sent after " + part + " bytes");
                    if (asBegun < stream.length) {
                        int opcode = stream[asBegun + 3] & 0xF;
                        assertEquals(
                                Frames.TERMINATE, opcode, () -> "after " + part + " bytes: " + TestBytes.hex(stream));
                        terminated++;
                    }
                } finally {
                    socket.giveReset();
                    device.drain();
                }
            }
        }
        assertTrue(terminated > 0, "no stream was ended by a Terminate");
    }

    /** Responses and requests together: their order between each other is free, not their order among themselves. */
    @Test
    void shouldKeepTheOrderOfEachKindWhenTheyMix() {
        for (int mode = 0; mode < 3; mode++) {
            try (Bench bench = new Bench(mode == 2, mode != 0, mode == 1 ? "on" : "off")) {
                for (int round = 0; round < 200; round++) {
                    long seed = SEED + 10_000 + round;
                    Random random = new Random(seed);
                    FakeSocket socket = bench.device.socket();
                    try (QueuePair pair = bench.device.connect(socket, new QueuePairLimits(32, 1, 8, 1, 512), 16)) {
                        bench.post(Kind.SENDS, pair);
                        bench.post(Kind.READ_REQUESTS, pair);
                        socket.taking(offered -> random.nextInt(4) == 0 ? 0 : random.nextLong(offered + 1))
                                .give(bench.incoming(Kind.READ_RESPONSES));
                        assertEquals(Bench.MESSAGES.length, bench.device.drain().size(), () -> "seed " + seed);
                        List<byte[]> responses = new ArrayList<>();
                        List<byte[]> requests = new ArrayList<>();
                        cut(FakeDevice.stream(socket)).forEach(fpdu -> {
                            boolean response = (fpdu[3] & 0xF) == Frames.READ_RESPONSE;
                            (response ? responses : requests).add(fpdu);
                        });
                        check(
                                bench.expected(Kind.READ_RESPONSES),
                                TestBytes.concat(responses.toArray(byte[][]::new)),
                                "responses, seed " + seed);
                        check(
                                TestBytes.concat(bench.expected(Kind.SENDS), bench.expected(Kind.READ_REQUESTS)),
                                TestBytes.concat(requests.toArray(byte[][]::new)),
                                "requests, seed " + seed);
                    } finally {
                        socket.giveReset();
                        bench.device.drain();
                    }
                }
            }
        }
    }

    private static List<byte[]> cut(byte[] stream) {
        List<byte[]> fpdus = new ArrayList<>();
        int at = 0;
        while (at < stream.length) {
            int ulpdu = (stream[at] & 0xFF) << 8 | (stream[at + 1] & 0xFF);
            int end = at + ((2 + ulpdu + 3) & ~3) + 4;
            assertTrue(end <= stream.length, "the stream ends within an FPDU");
            fpdus.add(TestBytes.slice(stream, at, end));
            at = end;
        }
        return fpdus;
    }
}
