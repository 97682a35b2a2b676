package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** Messages that the device has begun to send and gives up. */
class AbandonedStreamTest {
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(8, 8);
    private static final int TAGGED_HEADER = 14;
    private static final int LARGE_BUFFER = 4 << 20;
    private static final int SMALL_BUFFER = 64 << 10;
    private static final int SINK_STAG = 0x77;
    private static final int SEED = 51;

    // ---- READ responses

    private static final int CLOSES = 24;
    private static final int LEAST_READ = 2 << 20;

    @ParameterizedTest
    @EveryTransport
    void shouldSendOnlyWellFormedSegmentsWhenTheQueuePairIsClosedDuringItsTerminate(String transport) throws Exception {
        int most = LEAST_READ + CLOSES * 65_521;
        byte[] expected = TestBytes.pattern(SEED, most);
        try (TestDevice server = new TestDevice("transport", transport)) {
            MemorySegment memory = server.memory(most);
            MemorySegment.copy(expected, 0, memory, ValueLayout.JAVA_BYTE, 0, most);
            MemoryRegion source = server.own(server.domain().register(memory, Set.of(AccessFlag.REMOTE_READ)));
            // Where the response stands when the close comes is up to the two threads, so it is tried often.
            for (int i = 0; i < CLOSES; i++) {
                closeDuringTerminate(server, source, LEAST_READ + i * 65_521, expected);
            }
        }
    }

    private static void closeDuringTerminate(TestDevice server, MemoryRegion source, int length, byte[] expected)
            throws Exception {
        try (RecordingPeer peer = new RecordingPeer(server, LARGE_BUFFER, LIMITS)) {
            QueuePair pair = peer.pair();
            CompletableFuture<Void> recorded = CompletableFuture.runAsync(peer::takeAll, Thread::startVirtualThread);
            // There is no RECV, so the SEND terminates the stream behind the response.
            peer.send(
                    Frames.readRequest(1, SINK_STAG, 0, length, source.rkey(), source.address()),
                    Frames.send(1, new byte[] {1}));
            TestDevice.await("the Terminate", () -> pair.state() == QueuePairState.ERROR);
            pair.close();
            recorded.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
            expectResponseThenTerminate(peer.recording(), length, expected);
        }
    }

    /** Segments of the response in order, perhaps not all of it, then perhaps a Terminate; the end may cut the last one. */
    private static void expectResponseThenTerminate(RecordingPeer.Recording recording, int length, byte[] expected) {
        int offset = 0;
        boolean terminated = false;
        for (byte[] segment : recording.segments()) {
            assertTrue(!terminated, "a segment behind the Terminate");
            if ((segment[1] & 0xF) == Frames.TERMINATE) {
                terminated = true;
            } else {
                offset = expectResponseSegment(segment, offset, length, expected);
            }
        }
        byte[] rest = recording.rest();
        if (rest.length >= 2 + TAGGED_HEADER) {
            assertTrue(!terminated, "part of a segment behind the Terminate");
            int payload = ((rest[0] & 0xFF) << 8 | (rest[1] & 0xFF)) - TAGGED_HEADER;
            int here = Math.min(payload, rest.length - 2 - TAGGED_HEADER);
            int from = offset;
            int mismatch =
                    Arrays.mismatch(rest, 2 + TAGGED_HEADER, 2 + TAGGED_HEADER + here, expected, from, from + here);
            assertEquals(-1, mismatch, () -> "foreign bytes in the last part of the stream, behind " + from);
        }
    }

    private static int expectResponseSegment(byte[] segment, int offset, int length, byte[] expected) {
        int payload = segment.length - TAGGED_HEADER;
        boolean last = offset + payload == length;
        assertTrue(payload > 0 && offset + payload <= length, () -> "payload=" + payload + " at " + offset);
        assertEquals(
                TestBytes.hex(Frames.tagged(Frames.READ_RESPONSE, last, SINK_STAG, offset)),
                TestBytes.hex(TestBytes.slice(segment, 0, TAGGED_HEADER)),
                () -> "header of the response's segment at " + offset);
        int mismatch = Arrays.mismatch(segment, TAGGED_HEADER, segment.length, expected, offset, offset + payload);
        assertEquals(-1, mismatch, () -> "foreign bytes in the segment at " + offset);
        return offset + payload;
    }

    // ---- WRITEs

    private static final int QUIET_POLLS = 500;
    private static final int REFUSALS = 5;
    private static final int WRITE_BYTES = 1_000_000;
    private static final long WRITE_WR = 41;
    private static final byte BEFORE = 0x11;
    private static final byte AFTER = (byte) 0xEE;

    @ParameterizedTest
    @EveryTransport
    void shouldSendNothingStoredAfterTheCompletionWhenAReadIsRefusedBehindAWrite(String transport) throws Exception {
        // Whether the application is quick enough to store while the engine still sends is up to the two threads.
        for (int round = 0; round < REFUSALS; round++) {
            try (TestDevice server =
                            new TestDevice("transport", transport, "socket-buffer", "8192", "segment", "4096");
                    RecordingPeer peer = new RecordingPeer(server, SMALL_BUFFER, LIMITS)) {
                TestDevice.Guarded source = write(server, peer);
                awaitCount(server, "shortSends");
                // The READ waits behind the WRITE; when its turn comes, its memory is gone.
                MemoryRegion gone = server.guarded(64, AccessFlag.REMOTE_READ).region();
                peer.send(Frames.readRequest(1, SINK_STAG, 0, 8, gone.rkey(), gone.address()));
                awaitCount(server, "receivedSegments.readRequest");
                gone.close();
                CompletableFuture<TestDevice.Completion> completed = storeWhenCompleted(server, source);
                peer.takeAll();
                TestDevice.Completion completion = completed.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
                assertEquals(WRITE_WR, completion.wrId());
                long sent = expectOldBytes(peer.recording());
                // What was in the batch before the refusal goes first, so the WRITE may have gone whole.
                if (completion.status() == CompletionStatus.SUCCESS) {
                    assertEquals(WRITE_BYTES, sent, "bytes of a WRITE that succeeded");
                } else {
                    assertEquals(CompletionStatus.FLUSHED, completion.status());
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,20000", "epoll,36000", "epoll,52000", "nio,20000", "nio,36000", "nio,52000"})
    void shouldSendNothingStoredAfterTheCompletionWhenAWriteIsCutInTheMiddleOfASegment(String transport, String segment)
            throws Exception {
        try (TestDevice server = new TestDevice(
                        "transport", transport, "progress", "manual", "socket-buffer", "8192", "segment", segment);
                RecordingPeer peer = new RecordingPeer(server, SMALL_BUFFER, LIMITS)) {
            TestDevice.Guarded source = write(server, peer);
            driveUntilFull(server);
            peer.send(Frames.send(1, new byte[] {1}));
            TestDevice.Completion completion = server.take(1).getFirst();
            assertEquals(WRITE_WR, completion.wrId());
            assertEquals(CompletionStatus.FLUSHED, completion.status());
            source.inner().fill(AFTER);
            CompletableFuture<Void> recorded = CompletableFuture.runAsync(peer::takeAll, Thread::startVirtualThread);
            TestDevice.await("the end of the stream", () -> {
                drive(server);
                return recorded.isDone();
            });
            recorded.join();
            assertTrue(expectOldBytes(peer.recording()) < WRITE_BYTES, "a WRITE that was flushed was sent as a whole");
        }
    }

    /** Drives the device until the kernel takes no more of the WRITE, because the peer takes nothing. */
    private static void driveUntilFull(TestDevice server) {
        long[] seen = {0, 0};
        TestDevice.await("a full socket", () -> {
            drive(server);
            long sends = count(server, "sendCalls");
            seen[1] = sends == seen[0] && count(server, "shortSends") > 0 ? seen[1] + 1 : 0;
            seen[0] = sends;
            return seen[1] == QUIET_POLLS;
        });
    }

    /** One poll of a device in manual progress; no request is waiting. */
    private static void drive(TestDevice server) {
        assertTrue(server.listener().next(0).isEmpty());
    }

    private static TestDevice.Guarded write(TestDevice server, RecordingPeer peer) {
        TestDevice.Guarded source = server.guarded(WRITE_BYTES);
        source.inner().fill(BEFORE);
        assertEquals(
                PostStatus.ACCEPTED,
                peer.pair().postWrite(WRITE_WR, source.region(), 0, WRITE_BYTES, 0, 99, SendFlags.SIGNALLED));
        return source;
    }

    private static void awaitCount(TestDevice server, String name) {
        TestDevice.await(name, () -> count(server, name) > 0);
    }

    private static long count(TestDevice server, String name) {
        return Objects.requireNonNull(server.device().counters().get(name));
    }

    /** An application that uses its buffer again as soon as it may. */
    private static CompletableFuture<TestDevice.Completion> storeWhenCompleted(
            TestDevice server, TestDevice.Guarded source) {
        return CompletableFuture.supplyAsync(
                () -> {
                    WorkCompletion[] one = WorkCompletion.array(1);
                    long startNs = System.nanoTime();
                    while (server.queue().poll(one, 1) == 0) {
                        assertTrue(System.nanoTime() - startNs < TestDevice.DEADLINE_NS, "no completion came");
                    }
                    // What is sent last is stored first.
                    source.inner().asSlice(WRITE_BYTES * 3L / 4).fill(AFTER);
                    source.inner().fill(AFTER);
                    return new TestDevice.Completion(one[0].wrId(), one[0].status(), 0, 0);
                },
                task -> Thread.ofPlatform().daemon().start(task));
    }

    /**
     * The WRITE up to the end of a segment, as it was before its completion, then a Terminate, then the end.
     *
     * @return bytes of the WRITE that were sent
     */
    private static long expectOldBytes(RecordingPeer.Recording recording) {
        assertEquals(0, recording.rest().length, "bytes of a segment cut by the end of the stream");
        List<Integer> opcodes = recording.opcodes();
        assertEquals(Frames.TERMINATE, opcodes.getLast(), () -> "the last of " + opcodes);
        long offset = 0;
        for (byte[] segment : recording.segments().subList(0, opcodes.size() - 1)) {
            int payload = segment.length - TAGGED_HEADER;
            boolean last = offset + payload == WRITE_BYTES;
            assertEquals(
                    TestBytes.hex(Frames.tagged(Frames.WRITE, last, 99, offset)),
                    TestBytes.hex(TestBytes.slice(segment, 0, TAGGED_HEADER)),
                    "header of a segment of the WRITE");
            for (int i = TAGGED_HEADER; i < segment.length; i++) {
                if (segment[i] != BEFORE) {
                    throw new AssertionError("the byte at " + (offset + i - TAGGED_HEADER)
                            + " was stored after the completion: 0x" + Integer.toHexString(segment[i] & 0xFF));
                }
            }
            offset += payload;
        }
        return offset;
    }
}
