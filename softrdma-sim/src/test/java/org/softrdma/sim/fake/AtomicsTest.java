package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Atomics on the wire and in memory, both sides, against a peer made by hand (RFC 7306 section 5). */
class AtomicsTest {
    private static final int SIGNALLED = SendFlags.SIGNALLED;
    private static final byte[] FIRST = Frames.tagged(Frames.WRITE, true, 0, 0);
    private static final QueuePairLimits LIMITS = new QueuePairLimits(8, 8, 1, 1, 16);
    private static final int WORDS = 8;
    private static final int DATA_BYTES = 256;
    private static final int READS = 8;
    private static final long REMOTE = 0x1122_3344_5566_7000L;
    private static final int RKEY = 0x8877_6655;

    /** A device with a word that a peer may change, memory that it may READ, and a place for what this side fetches. */
    private static final class Bench implements AutoCloseable {
        private final FakeDevice device;
        private final MemoryRegion words;
        private final MemoryRegion data;
        private final MemoryRegion sink;
        private final FakeSocket socket;
        private final QueuePair pair;

        Bench(int reads, String... options) {
            device = new FakeDevice(options);
            words = device.region(1, WORDS * Long.BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
            words.memory().fill((byte) 0);
            data = device.region(2, DATA_BYTES, AccessFlag.REMOTE_READ);
            sink = device.region(3, DATA_BYTES, AccessFlag.READ_SINK);
            socket = device.socket();
            pair = device.connect(socket, LIMITS, reads);
        }

        long word(int index) {
            return words.memory().getAtIndex(ValueLayout.JAVA_LONG, index);
        }

        void set(int index, long value) {
            words.memory().setAtIndex(ValueLayout.JAVA_LONG, index, value);
        }

        long at(int index) {
            return words.address() + (long) index * Long.BYTES;
        }

        Bench give(byte[]... segments) {
            for (byte[] segment : segments) {
                socket.give(Frames.fpdu(segment, false));
            }
            device.run();
            return this;
        }

        byte[] read(int msn, int length) {
            return Frames.readRequest(msn, 7, 0, length, data.rkey(), data.address());
        }

        byte[] readResponse(int length) {
            return Frames.tagged(
                    Frames.READ_RESPONSE, true, 7, 0, TestBytes.slice(TestBytes.pattern(2, DATA_BYTES), 0, length));
        }

        void expectSent(byte[]... segments) {
            assertEquals(TestBytes.hex(fpdus(segments)), TestBytes.hex(FakeDevice.stream(socket)));
        }

        @Override
        public void close() {
            socket.giveReset();
            device.drain();
            pair.close();
            device.close();
        }
    }

    private static byte[] fpdus(byte[]... segments) {
        byte[][] fpdus = new byte[segments.length][];
        for (int i = 0; i < segments.length; i++) {
            fpdus[i] = Frames.fpdu(segments[i], false);
        }
        return TestBytes.concat(fpdus);
    }

    private static void accepted(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    // ---- responder

    @Test
    void shouldExecuteAtomicsAndAnswerWhatTheWordWas() {
        try (Bench bench = new Bench(READS)) {
            bench.set(1, 0x0102_0304_0506_0708L);
            bench.set(2, -5);
            int key = bench.words.rkey();
            bench.give(
                    FIRST,
                    Frames.fetchAdd(1, key, bench.at(1), 0x10),
                    Frames.compareSwap(2, key, bench.at(2), -5, 77),
                    Frames.compareSwap(3, key, bench.at(2), -5, 78),
                    Frames.fetchAdd(4, key, bench.at(1), -0x18));
            bench.expectSent(
                    Frames.atomicResponse(1, 1, 0x0102_0304_0506_0708L),
                    Frames.atomicResponse(2, 2, -5),
                    Frames.atomicResponse(3, 3, 77),
                    Frames.atomicResponse(4, 4, 0x0102_0304_0506_0718L));
            assertEquals(0x0102_0304_0506_0700L, bench.word(1));
            assertEquals(77, bench.word(2));
            assertEquals(0, bench.word(0));
            assertEquals(0, bench.word(3));
            assertEquals(4, bench.device.counter("responderAtomics"));
            assertEquals(4, bench.device.counter("receivedSegments.atomicRequest"));
            assertEquals(4, bench.device.counter("sentSegments.atomicResponse"));
        }
    }

    /** RFC 7306 section 5.1: masks, which this side does not send, and an identifier that is the peer's own. */
    @Test
    void shouldHeedMasksAndReturnThePeersIdentifier() {
        try (Bench bench = new Bench(READS)) {
            bench.set(0, 0x00FF_00FFL);
            bench.set(1, 0x1111_2222_3333_4444L);
            byte[] add = Frames.untagged(
                    Frames.ATOMIC_REQUEST,
                    true,
                    1,
                    1,
                    0,
                    Frames.atomicBody(
                            Frames.FETCH_ADD,
                            0xABCD_0123,
                            bench.words.rkey(),
                            bench.at(0),
                            0x0001_0001,
                            0x0080_0080,
                            9,
                            9));
            byte[] swap = Frames.untagged(
                    Frames.ATOMIC_REQUEST,
                    true,
                    1,
                    2,
                    0,
                    Frames.atomicBody(
                            0xFFFF_FFF0 | Frames.COMPARE_SWAP,
                            -1,
                            bench.words.rkey(),
                            bench.at(1),
                            -1,
                            0xFFFFL,
                            0x9999_9999_3333_9999L,
                            0xFFFF_0000L));
            bench.give(FIRST, add, swap);
            bench.expectSent(
                    Frames.atomicResponse(1, 0xABCD_0123, 0x00FF_00FFL),
                    Frames.atomicResponse(2, -1, 0x1111_2222_3333_4444L));
            assertEquals(0, bench.word(0), "the carry of each field is dropped");
            assertEquals(0x1111_2222_3333_FFFFL, bench.word(1));
        }
    }

    /** The kernel takes what it likes: every answer goes once, in order, and says what one execution has found. */
    @Test
    void shouldExecuteOnceHoweverOftenAnAnswerIsTakenBack() {
        int length = fpdus(
                        Frames.tagged(Frames.READ_RESPONSE, true, 7, 0, new byte[33]),
                        Frames.atomicResponse(1, 2, 0),
                        Frames.atomicResponse(2, 3, 0),
                        Frames.tagged(Frames.READ_RESPONSE, true, 7, 0, new byte[5]),
                        Frames.atomicResponse(3, 5, 0))
                .length;
        for (int stop = 0; stop <= length; stop++) {
            try (Bench bench = new Bench(READS, "copy-below", stop % 2 == 0 ? "1" : "4096")) {
                int first = stop;
                boolean[] begun = new boolean[1];
                bench.socket.taking(offered -> {
                    boolean here = !begun[0];
                    begun[0] = true;
                    return here ? first : offered;
                });
                int key = bench.words.rkey();
                byte[] requests = fpdus(
                        FIRST,
                        bench.read(1, 33),
                        Frames.fetchAdd(2, key, bench.at(0), 1),
                        Frames.fetchAdd(3, key, bench.at(0), 1),
                        bench.read(4, 5),
                        Frames.fetchAdd(5, key, bench.at(0), 1));
                bench.socket.give(requests);
                bench.device.run();
                bench.expectSent(
                        bench.readResponse(33),
                        Frames.atomicResponse(1, 2, 0),
                        Frames.atomicResponse(2, 3, 1),
                        bench.readResponse(5),
                        Frames.atomicResponse(3, 5, 2));
                assertEquals(3, bench.word(0), "the first call takes " + stop + " bytes");
                assertEquals(3, bench.device.counter("responderAtomics"));
            }
        }
    }

    @Test
    void shouldTakeAtomicsCutAnywhere() {
        byte[] shape = fpdus(FIRST, Frames.fetchAdd(1, 0, 0, 1), Frames.compareSwap(2, 0, 0, 1, 9));
        for (int at = 0; at < shape.length; at++) {
            for (String crc : List.of("off", "on")) {
                try (Bench bench = new Bench(READS, "crc", crc)) {
                    byte[][] segments = {
                        FIRST,
                        Frames.fetchAdd(1, bench.words.rkey(), bench.at(0), 1),
                        Frames.compareSwap(2, bench.words.rkey(), bench.at(0), 1, 9)
                    };
                    byte[][] fpdus = new byte[segments.length][];
                    for (int i = 0; i < segments.length; i++) {
                        fpdus[i] = Frames.fpdu(segments[i], crc.equals("on"));
                    }
                    byte[] stream = TestBytes.concat(fpdus);
                    bench.socket.give(TestBytes.slice(stream, 0, at));
                    bench.device.run();
                    bench.socket.give(TestBytes.slice(stream, at, stream.length));
                    bench.device.run();
                    assertEquals(9, bench.word(0), "cut at " + at);
                    assertEquals(2, bench.device.counter("sentSegments.atomicResponse"), "cut at " + at);
                }
            }
        }
    }

    /** What the word was is kept with the request: nobody reads the region again. */
    @Test
    void shouldAnswerAlthoughTheRegionWasClosedBetweenExecutionAndAnswer() {
        try (Bench bench = new Bench(READS)) {
            bench.socket.takeOnly(0);
            bench.set(0, 40);
            MemorySegment memory = bench.words.memory();
            bench.give(FIRST, Frames.fetchAdd(1, bench.words.rkey(), bench.at(0), 2));
            assertEquals(42, memory.getAtIndex(ValueLayout.JAVA_LONG, 0), "executed when it came");
            bench.words.close();
            memory.fill((byte) 0xEE);
            bench.socket.takeAll();
            bench.device.run();
            bench.expectSent(Frames.atomicResponse(1, 1, 40));
            assertEquals(QueuePairState.READY_TO_SEND, bench.pair.state());
        }
    }

    /** READs and atomics of the peer share the IRD: what exceeds it is refused, and not executed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseWhatExceedsTheDepthThatReadsAndAtomicsShare(boolean atomicFirst) {
        try (Bench bench = new Bench(2)) {
            bench.socket.takeOnly(0);
            int key = bench.words.rkey();
            byte[] third = Frames.fetchAdd(3, key, bench.at(0), 100);
            if (atomicFirst) {
                bench.give(FIRST, Frames.fetchAdd(1, key, bench.at(0), 1), bench.read(2, 5), third);
            } else {
                bench.give(FIRST, bench.read(1, 5), Frames.fetchAdd(2, key, bench.at(0), 1), third);
            }
            assertEquals(1, bench.word(0), "the third was not executed");
            assertEquals(QueuePairState.ERROR, bench.pair.state());
            bench.socket.takeAll();
            bench.device.run();
            byte[] terminate = Frames.terminate(0x1202, third, true, false);
            if (atomicFirst) {
                bench.expectSent(Frames.atomicResponse(1, 1, 0), bench.readResponse(5), terminate);
            } else {
                bench.expectSent(bench.readResponse(5), Frames.atomicResponse(1, 2, 0), terminate);
            }
        }
    }

    @Test
    void shouldRefuseAReadBeyondTheDepthThatAtomicsHaveUsed() {
        try (Bench bench = new Bench(1)) {
            bench.socket.takeOnly(0);
            byte[] second = bench.read(2, 5);
            bench.give(FIRST, Frames.fetchAdd(1, bench.words.rkey(), bench.at(0), 1), second);
            bench.socket.takeAll();
            bench.device.run();
            bench.expectSent(Frames.atomicResponse(1, 1, 0), Frames.terminate(0x1202, second, true, false));
        }
    }

    // ---- requester

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 64})
    void shouldSendAtomicsAndPlaceWhatTheWordWas(int offset) {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.sink, offset, REMOTE, RKEY, -3, SIGNALLED));
            accepted(bench.pair.postCompareAndSwap(
                    2, bench.sink, offset + 8, REMOTE + 8, RKEY + 1, Long.MIN_VALUE, 9, SIGNALLED));
            bench.device.run();
            bench.expectSent(
                    Frames.fetchAdd(1, RKEY, REMOTE, -3),
                    Frames.compareSwap(2, RKEY + 1, REMOTE + 8, Long.MIN_VALUE, 9));
            assertEquals(List.of(), bench.device.told());
            bench.give(Frames.atomicResponse(1, 1, 0x0102_0304_0506_0708L), Frames.atomicResponse(2, 2, -1));
            assertEquals(List.of("1 FETCH_AND_ADD 8", "2 COMPARE_AND_SWAP 8"), bench.device.told());
            MemorySegment sink = bench.sink.memory();
            assertEquals(0x0102_0304_0506_0708L, sink.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
            assertEquals(-1, sink.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + 8));
            byte[] pattern = TestBytes.pattern(3, DATA_BYTES);
            for (int i = 0; i < DATA_BYTES; i++) {
                if (i < offset || i >= offset + 16) {
                    assertEquals(pattern[i], sink.get(ValueLayout.JAVA_BYTE, i), "byte " + i);
                }
            }
        }
    }

    /** Answers come in the order of the requests, whatever their kind. */
    @Test
    void shouldCompleteReadsAndAtomicsInTheirOrder() {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postRead(1, bench.sink, 0, 5, REMOTE, RKEY, SIGNALLED));
            accepted(bench.pair.postFetchAndAdd(2, bench.sink, 8, REMOTE, RKEY, 1, SIGNALLED));
            accepted(bench.pair.postRead(3, bench.sink, 16, 3, REMOTE, RKEY, SIGNALLED));
            bench.device.run();
            long sink = bench.sink.address();
            bench.give(
                    Frames.tagged(Frames.READ_RESPONSE, true, bench.sink.lkey(), sink, new byte[5]),
                    Frames.atomicResponse(1, 2, 12),
                    Frames.tagged(Frames.READ_RESPONSE, true, bench.sink.lkey(), sink + 16, new byte[3]));
            assertEquals(List.of("1 READ 5", "2 FETCH_AND_ADD 8", "3 READ 3"), bench.device.told());
            assertEquals(12, bench.sink.memory().get(ValueLayout.JAVA_LONG, 8));
        }
    }

    @Test
    void shouldHaveNoMoreInFlightThanTheDepthThatReadsAndAtomicsShare() {
        try (Bench bench = new Bench(1)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.sink, 0, REMOTE, RKEY, 1, SIGNALLED));
            accepted(bench.pair.postRead(2, bench.sink, 8, 0, REMOTE, RKEY, SIGNALLED));
            accepted(bench.pair.postFetchAndAdd(3, bench.sink, 0, REMOTE, RKEY, 2, SIGNALLED));
            bench.device.run();
            byte[] first = Frames.fetchAdd(1, RKEY, REMOTE, 1);
            byte[] second = Frames.readRequest(2, 0, 0, 0, RKEY, REMOTE);
            bench.expectSent(first);
            bench.give(Frames.atomicResponse(1, 1, 0));
            bench.expectSent(first, second);
            bench.give(Frames.tagged(Frames.READ_RESPONSE, true, 0, 0));
            bench.expectSent(first, second, Frames.fetchAdd(3, RKEY, REMOTE, 2));
        }
    }

    @Test
    void shouldHoldAFencedRequestBackUntilTheAtomicIsComplete() {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.sink, 0, REMOTE, RKEY, 1, SIGNALLED));
            accepted(bench.pair.postWrite(2, bench.data, 0, 3, REMOTE, RKEY, SIGNALLED | SendFlags.FENCE));
            bench.device.run();
            byte[] atomic = Frames.fetchAdd(1, RKEY, REMOTE, 1);
            bench.expectSent(atomic);
            bench.give(Frames.atomicResponse(1, 1, 0));
            bench.expectSent(
                    atomic,
                    Frames.tagged(
                            Frames.WRITE, true, RKEY, REMOTE, TestBytes.slice(TestBytes.pattern(2, DATA_BYTES), 0, 3)));
        }
    }

    @Test
    void shouldFailAnAtomicWhoseBufferMayNotBeWritten() {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.data, 0, REMOTE, RKEY, 1, SIGNALLED));
            assertEquals(List.of("1 LOCAL_PROTECTION_ERROR 0"), bench.device.told());
        }
    }

    @Test
    void shouldFailAnAtomicWhoseBufferWasDeregisteredMeanwhile() {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.sink, 0, REMOTE, RKEY, 1, SIGNALLED));
            bench.device.run();
            MemorySegment memory = bench.sink.memory();
            byte[] before = memory.toArray(ValueLayout.JAVA_BYTE);
            bench.sink.close();
            bench.give(Frames.atomicResponse(1, 1, -1));
            assertEquals(List.of("1 LOCAL_PROTECTION_ERROR 0"), bench.device.told());
            assertEquals(TestBytes.hex(before), TestBytes.hex(memory.toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    // ---- a peer that does not know them

    /**
     * Linux's siw shows nothing of a segment whose opcode it does not know, and says 2006, with layer and type the wrong way
     * round; softrdma with rfc7306=off shows it.
     */
    @ParameterizedTest
    @CsvSource({"0206, false", "0206, true", "2006, false"})
    void shouldSayReadablyThatThePeerDoesNotKnowAtomics(String code, boolean shown) throws Exception {
        try (Bench bench = new Bench(READS)) {
            CompletableFuture<String> reason = bench.pair.disconnected().toCompletableFuture();
            bench.give(FIRST);
            accepted(bench.pair.postRead(1, bench.sink, 0, 0, REMOTE, RKEY, SIGNALLED));
            accepted(bench.pair.postCompareAndSwap(2, bench.sink, 0, REMOTE, RKEY, 1, 2, SIGNALLED));
            accepted(bench.pair.postFetchAndAdd(3, bench.sink, 0, REMOTE, RKEY, 1, SIGNALLED));
            bench.device.run();
            byte[] unknown = Frames.compareSwap(2, RKEY, REMOTE, 1, 2);
            bench.give(
                    Frames.tagged(Frames.READ_RESPONSE, true, 0, 0),
                    Frames.terminate(Integer.parseInt(code, 16), unknown, shown, false));
            assertEquals(
                    List.of("1 READ 0", "2 REMOTE_INVALID_REQUEST_ERROR 206", "3 FLUSHED 206"), bench.device.told());
            assertTrue(reason.isDone());
            assertEquals(
                    "the peer terminated the stream: unexpected opcode; this side has sent atomics (RFC 7306), which"
                            + " a peer need not know: agree with it on their use before",
                    reason.get());
        }
    }

    /** What siw says of a READ beyond the end of a region; no other peer says 1001. */
    @ParameterizedTest
    @CsvSource({
        "1001, base or bounds violation",
        "0101, base or bounds violation",
        "2006, MPA: insufficient IRD resources",
        "1000, DDP: local catastrophic error"
    })
    void shouldTakeLayerAndTypeTheWrongWayRoundOnlyWhereNothingElseCanBeMeant(String code, String meaning)
            throws Exception {
        try (Bench bench = new Bench(READS)) {
            CompletableFuture<String> reason = bench.pair.disconnected().toCompletableFuture();
            bench.give(FIRST, Frames.terminate(Integer.parseInt(code, 16), new byte[0], false, false));
            assertEquals("the peer terminated the stream: " + meaning, reason.get());
        }
    }

    @Test
    void shouldTellAMisalignedAtomicFromACatastropheOfThePeer() {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.sink, 0, REMOTE + 1, RKEY, 1, SIGNALLED));
            bench.device.run();
            bench.give(Frames.terminate(0x0207, Frames.fetchAdd(1, RKEY, REMOTE + 1, 1), true, false));
            assertEquals(List.of("1 REMOTE_INVALID_REQUEST_ERROR 207"), bench.device.told());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x0100, 0x0101, 0x0102, 0x0103, 0x0104})
    void shouldCompleteARefusedAtomicAsAnAccessError(int code) {
        try (Bench bench = new Bench(READS)) {
            bench.give(FIRST);
            accepted(bench.pair.postFetchAndAdd(1, bench.sink, 0, REMOTE, RKEY, 1, SIGNALLED));
            bench.device.run();
            bench.give(Frames.terminate(code, Frames.fetchAdd(1, RKEY, REMOTE, 1), true, false));
            assertEquals(List.of("1 REMOTE_ACCESS_ERROR " + Integer.toHexString(code)), bench.device.told());
        }
    }

    // ---- a device that does not speak RFC 7306

    @Test
    void shouldRefuseWhatADeviceWithoutRfc7306Lacks() {
        try (FakeDevice device = new FakeDevice("rfc7306", "off")) {
            Set<Feature> features = device.device().capabilities().features();
            for (Feature feature : List.of(Feature.ATOMICS, Feature.GLOBAL_ATOMICS, Feature.WRITE_IMMEDIATE)) {
                assertFalse(features.contains(feature), () -> feature + " with rfc7306=off");
            }
            VerbsException refused = assertThrows(
                    VerbsException.class, () -> device.region(1, 8, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
            MemoryRegion local = device.region(1, 8, AccessFlag.LOCAL_WRITE);
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, LIMITS, 1)) {
                assertFalse(pair.connectionCapabilities().features().contains(Feature.ATOMICS));
                for (Runnable post : List.<Runnable>of(
                        () -> pair.postFetchAndAdd(1, local, 0, 0, 0, 1, 0),
                        () -> pair.postCompareAndSwap(1, local, 0, 0, 0, 1, 1, 0),
                        () -> pair.postWriteImmediate(1, local, 0, 8, 0, 0, 1, 0))) {
                    assertEquals(
                            VerbsErrorCode.NOT_SUPPORTED,
                            assertThrows(VerbsException.class, post::run).code());
                }
            } finally {
                socket.giveReset();
                device.drain();
            }
        }
    }

    @Test
    void shouldOfferRfc7306UnlessToldNotTo() {
        try (Bench bench = new Bench(1)) {
            Set<Feature> device = bench.device.device().capabilities().features();
            assertTrue(device.containsAll(Set.of(Feature.ATOMICS, Feature.GLOBAL_ATOMICS, Feature.WRITE_IMMEDIATE)));
            assertFalse(device.contains(Feature.SEND_IMMEDIATE), "iWARP has no SEND with immediate");
            assertTrue(bench.pair.connectionCapabilities().features().contains(Feature.ATOMICS));
            assertEquals(Long.BYTES, bench.words.coherentUnit());
            assertThrows(
                    IllegalArgumentException.class,
                    () -> bench.device.region(1, 8, AccessFlag.REMOTE_ATOMIC),
                    "without LOCAL_WRITE");
        }
    }
}
