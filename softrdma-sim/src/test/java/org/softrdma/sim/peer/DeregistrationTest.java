package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;

/**
 * Deregistration in the middle of a message whose peer has stopped: it returns in time, and from then on the memory is
 * neither read nor written. The peer goes on later, so a device that still has the address would be seen.
 */
class DeregistrationTest {
    private static final long CLOSE_DEADLINE_S = 30;
    private static final int QUIET_LOOKS = 50;
    private static final byte POISON = (byte) 0xDB;
    private static final byte LIVE = 0x11;
    private static final byte WRITTEN = 0x22;

    /** Closes a region within the deadline that counts, and poisons its memory at once. */
    static void closeAndPoison(MemoryRegion region, MemorySegment memory) throws Exception {
        CompletableFuture.runAsync(region::close, Thread::startVirtualThread).get(CLOSE_DEADLINE_S, TimeUnit.SECONDS);
        memory.fill(POISON);
    }

    static void requireAll(MemorySegment memory, byte value, String what) {
        long bad = firstOther(memory, value);
        assertTrue(bad < 0, () -> what + ": byte " + bad + " is " + memory.get(ValueLayout.JAVA_BYTE, bad));
    }

    private static long firstOther(MemorySegment memory, byte value) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != value) {
                return i;
            }
        }
        return -1;
    }

    private static byte[] filled(int length, byte value) {
        byte[] bytes = new byte[length];
        java.util.Arrays.fill(bytes, value);
        return bytes;
    }

    /**
     * Waits until the device has begun to send a large message and has stopped. With small socket buffers it stops within a
     * segment, with large ones at the end of a turn. Nothing depends on it but that the test meets what it is about.
     */
    static void awaitStop(TestDevice server, String segments, long least) {
        long[] seen = {-1, 0};
        TestDevice.await(
                () -> "the device to stop sending, now " + server.device().counters(), () -> {
                    long calls = server.counter("sendCalls");
                    seen[1] = calls == seen[0] && server.counter(segments) > least ? seen[1] + 1 : 0;
                    seen[0] = calls;
                    return seen[1] > QUIET_LOOKS;
                });
    }

    /** Reads FPDUs until the stream ends somehow and fails if a payload has a byte of poison; returns bytes of payload. */
    private static long drainTagged(RawPeer peer) {
        long payload = 0;
        try {
            while (true) {
                byte[] segment = peer.next().orElse(null);
                if (segment == null) {
                    return payload;
                }
                if ((segment[0] & 0x80) != 0) {
                    for (int i = 14; i < segment.length; i++) {
                        assertEquals(LIVE, segment[i], "byte of a READ response or WRITE sent after deregistration");
                    }
                    payload += segment.length - 14;
                }
            }
        } catch (IOException | AssertionError e) {
            // An end within an FPDU is how the device ends such a stream. What has come of that FPDU counts too.
            if (e instanceof AssertionError failure
                    && String.valueOf(failure.getMessage()).contains("byte of a READ")) {
                throw failure;
            }
            String text = String.valueOf(e.getMessage());
            assertTrue(!text.contains("dbdb"), () -> "poison in the last FPDU: " + text.substring(0, 80));
            return payload;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "epoll,off,0",
        "epoll,off,16384",
        "epoll,on,16384",
        "uring,off,0",
        "uring,off,16384",
        "uring,on,16384",
        "nio,off,0",
        "nio,off,16384"
    })
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldNotReadOnWhenThePeerHasStoppedInAResponse(String transport, String crc, String buffer) throws Exception {
        int length = 64 * 1024 * 1024;
        try (Scene scene = new Scene(transport, crc.equals("on"), 0, "crc", crc, "socket-buffer", buffer)) {
            TestDevice.Guarded large = scene.server.guarded(length, AccessFlag.REMOTE_READ);
            large.inner().fill(LIVE);
            scene.bystander.begin();
            scene.peer.send(Frames.readRequest(
                    1, 11, 12, length, large.region().rkey(), large.region().address()));
            awaitStop(scene.server, "sentSegments.readResponse", 8);

            closeAndPoison(large.region(), large.inner());

            long received = drainTagged(scene.peer);
            assertTrue(received < length, "the response cannot have been completed");
            scene.bystander.finish();
            TestDevice.await("the end of the queue pair", () -> scene.pair.state() == QueuePairState.ERROR);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "epoll,off,0",
        "epoll,off,16384",
        "epoll,on,16384",
        "uring,off,0",
        "uring,off,16384",
        "uring,on,16384",
        "nio,off,0",
        "nio,off,16384"
    })
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldNotReadOnWhenThePeerHasStoppedInAWrite(String transport, String crc, String buffer) throws Exception {
        int length = 64 * 1024 * 1024;
        try (Scene scene = new Scene(transport, crc.equals("on"), 0, "crc", crc, "socket-buffer", buffer)) {
            TestDevice.Guarded large = scene.server.guarded(length);
            large.inner().fill(LIVE);
            scene.bystander.begin();
            assertEquals(
                    PostStatus.ACCEPTED,
                    scene.pair.postWrite(5, large.region(), 0, length, 0x1000, 7, SendFlags.SIGNALLED));
            awaitStop(scene.server, "sentSegments.write", 0);

            closeAndPoison(large.region(), large.inner());

            long received = drainTagged(scene.peer);
            assertTrue(received < length, "the WRITE cannot have been completed");
            TestDevice.Completion ended = scene.server.take(1).getFirst();
            assertTrue(ended.status() != CompletionStatus.SUCCESS, ended::toString);
            scene.bystander.finish();
        }
    }

    /** Half an FPDU, deregistration, the other half. The sizes take the copying and the direct way of placing. */
    @ParameterizedTest
    @CsvSource({"epoll,1000", "epoll,60000", "uring,1000", "uring,60000", "nio,1000", "nio,60000"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldNotWriteOnWhenThePeerHasStoppedInAWrite(String transport, int length) throws Exception {
        try (Scene scene = new Scene(transport, false, 2)) {
            TestDevice.Guarded target = scene.server.guarded(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            target.inner().fill(LIVE);
            byte[] fpdu = Frames.fpdu(
                    Frames.tagged(
                            Frames.WRITE,
                            true,
                            target.region().rkey(),
                            target.region().address(),
                            filled(length, WRITTEN)),
                    false);
            scene.bystander.begin();
            Map<String, Long> before = scene.server.trouble();
            int half = 16 + length / 2;
            scene.peer.sendBytes(TestBytes.slice(fpdu, 0, half));
            awaitByte(target.inner(), half - 16 - 1, WRITTEN);

            closeAndPoison(target.region(), target.inner());

            scene.peer.sendBytes(TestBytes.slice(fpdu, half, fpdu.length));
            scene.peer.expect(Frames.terminate(0x1100, fpdu, false, false), "Terminate");
            scene.peer.expectEnd();
            requireAll(target.inner(), POISON, "memory after deregistration");
            target.requireCanaries();
            scene.server.awaitTrouble(
                    before, Map.of("accessErrors", 1L, "terminatesSent", 1L, "connectionsClosed", 1L));
            scene.expectEnded(scene.allFlushed(false));
            scene.bystander.finish();
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,1000", "epoll,60000", "uring,1000", "uring,60000", "nio,1000", "nio,60000"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldNotWriteOnWhenThePeerHasStoppedInASend(String transport, int length) throws Exception {
        try (Scene scene = new Scene(transport, false, 0)) {
            TestDevice.Guarded target = scene.server.guarded(length, AccessFlag.RECEIVE_SINK);
            target.inner().fill(LIVE);
            scene.pair.postReceive(3, target.region(), 0, length);
            byte[] fpdu = Frames.fpdu(Frames.send(1, filled(length, WRITTEN)), false);
            scene.bystander.begin();
            int half = 20 + length / 2;
            scene.peer.sendBytes(TestBytes.slice(fpdu, 0, half));
            awaitByte(target.inner(), half - 20 - 1, WRITTEN);

            closeAndPoison(target.region(), target.inner());

            scene.peer.sendBytes(TestBytes.slice(fpdu, half, fpdu.length));
            scene.peer.expect(Frames.terminate(0x0207, fpdu, false, false), "Terminate");
            scene.peer.expectEnd();
            requireAll(target.inner(), POISON, "memory after deregistration");
            scene.expectEnded(Map.of(3L, CompletionStatus.LOCAL_PROTECTION_ERROR));
            scene.bystander.finish();
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,1000", "epoll,60000", "uring,1000", "uring,60000", "nio,1000", "nio,60000"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldNotWriteOnWhenThePeerHasStoppedInAReadResponse(String transport, int length) throws Exception {
        try (Scene scene = new Scene(transport, false, 0)) {
            TestDevice.Guarded target = scene.server.guarded(length, AccessFlag.READ_SINK);
            target.inner().fill(LIVE);
            scene.pair.postRead(3, target.region(), 0, length, 1, 2, SendFlags.SIGNALLED);
            scene.peer.expect(
                    Frames.readRequest(
                            1, target.region().lkey(), target.region().address(), length, 2, 1),
                    "READ request");
            byte[] fpdu = Frames.fpdu(
                    Frames.tagged(
                            Frames.READ_RESPONSE,
                            true,
                            target.region().lkey(),
                            target.region().address(),
                            filled(length, WRITTEN)),
                    false);
            scene.bystander.begin();
            int half = 16 + length / 2;
            scene.peer.sendBytes(TestBytes.slice(fpdu, 0, half));
            awaitByte(target.inner(), half - 16 - 1, WRITTEN);

            closeAndPoison(target.region(), target.inner());

            scene.peer.sendBytes(TestBytes.slice(fpdu, half, fpdu.length));
            scene.peer.expect(Frames.terminate(0x0000, fpdu, false, false), "Terminate");
            scene.peer.expectEnd();
            requireAll(target.inner(), POISON, "memory after deregistration");
            scene.expectEnded(Map.of(3L, CompletionStatus.LOCAL_PROTECTION_ERROR));
            scene.bystander.finish();
        }
    }

    private static void awaitByte(MemorySegment memory, long at, byte value) {
        TestDevice.await(() -> "byte " + at + " to be placed", () -> memory.get(ValueLayout.JAVA_BYTE, at) == value);
    }
}
