package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** Memory windows of type 2, with peers whose every segment is made by hand. */
class MemoryWindowTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(16, 16, 2, 2, 0);
    private static final int REGION = 4096;
    private static final int FROM = 1024;
    private static final int LENGTH = 512;
    private static final int READS = 8;
    private static final int SIGNALLED = SendFlags.SIGNALLED;
    private static final Set<AccessFlag> READ_WRITE = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

    private static final int INVALID_STAG = 0x0100;
    private static final int READ_BOUNDS = 0x0101;
    private static final int READ_RIGHTS = 0x0102;
    private static final int READ_NOT_ON_STREAM = 0x0103;
    private static final int CANNOT_INVALIDATE = 0x0109;
    private static final int TAGGED_STAG = 0x1100;
    private static final int TAGGED_NOT_ON_STREAM = 0x1102;

    /** A device with a region that nobody can reach but by windows, and a peer that has spoken. */
    private static final class Bench implements AutoCloseable {
        private final FakeDevice device;
        private final MemoryRegion region;
        private final MemoryRegion received;
        private final FakeSocket socket;
        private final QueuePair pair;
        private int heard;

        Bench(String... options) {
            device = new FakeDevice(options);
            region = device.region(5, REGION, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS);
            received = device.region(6, REGION, AccessFlag.RECEIVE_SINK);
            socket = device.socket();
            pair = connected(socket);
        }

        QueuePair connected(FakeSocket to) {
            QueuePair made = device.own(device.connect(to, LIMITS, READS));
            to.give(fpdu(Frames.tagged(Frames.WRITE, true, 0, 0)));
            device.run();
            return made;
        }

        MemoryWindow window() {
            return device.own(device.domain().allocateWindow());
        }

        MemoryWindow bound(Set<AccessFlag> access) {
            MemoryWindow window = window();
            bind(window, access);
            assertEquals(List.of(CompletionStatus.SUCCESS), device.drain());
            return window;
        }

        void bind(MemoryWindow window, Set<AccessFlag> access) {
            assertEquals(PostStatus.ACCEPTED, pair.postBindWindow(1, window, region, FROM, LENGTH, access, SIGNALLED));
        }

        long address() {
            return region.address() + FROM;
        }

        byte[] bytes(int from, int length) {
            return region.memory().asSlice(from, length).toArray(ValueLayout.JAVA_BYTE);
        }

        /** What was sent since the last call. */
        byte[] heard() {
            byte[] all = FakeDevice.stream(socket);
            byte[] here = TestBytes.slice(all, heard, all.length);
            heard = all.length;
            return here;
        }

        void says(byte[]... segments) {
            for (byte[] segment : segments) {
                socket.give(fpdu(segment));
            }
        }

        /** The peer READs by a key, and gets these bytes. */
        void reads(int msn, int key, long address, int length) {
            heard();
            says(Frames.readRequest(msn, 9, 99, length, key, address));
            device.run();
            byte[] bytes = bytes((int) (address - region.address()), length);
            assertArrayEquals(fpdu(Frames.tagged(Frames.READ_RESPONSE, true, 9, 99, bytes)), heard());
        }

        /** The last segment that the peer sent was refused. */
        void expectTerminate(int code, byte[] segment) {
            expectTerminate(socket, code, segment);
            assertEquals(QueuePairState.ERROR, pair.state());
        }

        void expectTerminate(FakeSocket by, int code, byte[] segment) {
            device.run();
            boolean read = (segment[0] & 0x80) == 0 && (segment[1] & 0xF) == Frames.READ_REQUEST;
            byte[] all = FakeDevice.stream(by);
            byte[] terminate = fpdu(Frames.terminate(code, segment, true, read));
            assertEquals(
                    TestBytes.hex(terminate),
                    TestBytes.hex(TestBytes.slice(all, Math.max(0, all.length - terminate.length), all.length)));
        }

        @Override
        public void close() {
            socket.giveReset();
            device.run();
            device.close();
        }
    }

    private static byte[] fpdu(byte[] segment) {
        return Frames.fpdu(segment, false);
    }

    // ---- what a window gives

    @Test
    void shouldGiveThePeerOfItsQueuePairWhatItSaysAndNoMore() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.window();
            assertEquals(0, window.rkey());
            bench.bind(window, READ_WRITE);
            int key = window.rkey();
            assertNotEquals(0, key);
            assertNotEquals(bench.region.rkey(), key);
            WorkCompletion[] one = WorkCompletion.array(1);
            bench.device.run();
            assertEquals(1, bench.device.queue().poll(one));
            assertEquals(CompletionOpcode.BIND_WINDOW, one[0].opcode());
            assertEquals(0, one[0].byteLength());
            assertEquals("", TestBytes.hex(bench.heard()), "a bind sends nothing");

            bench.reads(1, key, bench.address(), LENGTH);
            bench.reads(2, key, bench.address() + LENGTH - 1, 1);
            byte[] news = TestBytes.pattern(77, 100);
            bench.says(Frames.tagged(Frames.WRITE, true, key, bench.address() + 3, news));
            bench.device.run();
            assertArrayEquals(news, bench.bytes(FROM + 3, 100));
            byte[] beyond = Frames.readRequest(3, 9, 99, LENGTH, key, bench.address() + 1);
            bench.says(beyond);
            bench.expectTerminate(READ_BOUNDS, beyond);
            assertEquals(EndCause.PEER_ACCESS_ERROR, bench.pair.endCause());
        }
    }

    @Test
    void shouldGiveNoRightButItsOwn() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(Set.of(AccessFlag.REMOTE_WRITE));
            byte[] read = Frames.readRequest(1, 9, 99, 1, window.rkey(), bench.address());
            bench.says(read);
            bench.expectTerminate(READ_RIGHTS, read);
        }
        try (Bench bench = new Bench()) {
            byte[] before = bench.bytes(0, REGION);
            MemoryWindow window = bench.bound(Set.of(AccessFlag.REMOTE_READ));
            byte[] write = Frames.tagged(Frames.WRITE, true, window.rkey(), bench.address(), (byte) 1);
            bench.says(write);
            bench.expectTerminate(TAGGED_STAG, write);
            assertArrayEquals(before, bench.bytes(0, REGION));
        }
    }

    @Test
    void shouldBeNothingForThePeerOfAnotherQueuePair() {
        try (Bench bench = new Bench()) {
            int key = bench.bound(READ_WRITE).rkey();
            byte[] read = Frames.readRequest(1, 9, 99, 1, key, bench.address());
            byte[] write = Frames.tagged(Frames.WRITE, true, key, bench.address(), (byte) 1);
            byte[] invalidation = Frames.sendInvalidate(false, 1, key);
            for (byte[] segment : List.of(read, write, invalidation)) {
                FakeSocket stranger = bench.device.socket();
                QueuePair other = bench.connected(stranger);
                assertEquals(PostStatus.ACCEPTED, other.postReceive(7, bench.received, 0, 10));
                byte[] before = bench.bytes(0, REGION);
                stranger.give(fpdu(segment));
                bench.expectTerminate(
                        stranger,
                        segment == read
                                ? READ_NOT_ON_STREAM
                                : segment == write ? TAGGED_NOT_ON_STREAM : CANNOT_INVALIDATE,
                        segment);
                assertArrayEquals(before, bench.bytes(0, REGION));
                stranger.giveReset();
                bench.device.run();
            }
            bench.device.drain();
            bench.reads(1, key, bench.address(), LENGTH);
        }
    }

    /** The key of a window is no lkey, and the region's own keys and rights are what they were. */
    @Test
    void shouldLeaveTheRegionAsItWas() {
        try (Bench bench = new Bench()) {
            int key = bench.bound(READ_WRITE).rkey();
            assertEquals(EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS), bench.region.access());
            SendWorkRequest byWindow = new SendWorkRequest().send(3, SIGNALLED).add(bench.address(), 1, key);
            assertEquals(PostStatus.ACCEPTED, bench.pair.post(byWindow));
            assertEquals(List.of(CompletionStatus.LOCAL_PROTECTION_ERROR), bench.device.drain());
        }
        try (Bench bench = new Bench()) {
            bench.bound(READ_WRITE);
            byte[] read = Frames.readRequest(1, 9, 99, 1, bench.region.rkey(), bench.address());
            bench.says(read);
            bench.expectTerminate(READ_RIGHTS, read);
        }
    }

    // ---- in order with other requests

    @Test
    void shouldBindBeforeASendThatFollowsTellsThePeer() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.window();
            bench.bind(window, READ_WRITE);
            assertEquals(PostStatus.ACCEPTED, bench.pair.postSend(2, bench.received, 0, 4, SIGNALLED));
            bench.says(Frames.readRequest(1, 9, 99, 8, window.rkey(), bench.address()));
            assertEquals(
                    List.of(1L, 2L),
                    bench.device.ended().stream().map(FakeDevice.Ended::wrId).toList());
            assertEquals(QueuePairState.READY_TO_SEND, bench.pair.state());
        }
    }

    @Test
    void shouldCompleteBehindTheReadsBeforeItAndWaitForThemOnlyIfFenced() {
        for (int flags : new int[] {SIGNALLED, SIGNALLED | SendFlags.FENCE}) {
            try (Bench bench = new Bench()) {
                MemoryWindow window = bench.window();
                MemoryRegion sink = bench.device.region(9, 64, AccessFlag.READ_SINK);
                assertEquals(PostStatus.ACCEPTED, bench.pair.postRead(10, sink, 0, 8, 4711, 42, SIGNALLED));
                assertEquals(
                        PostStatus.ACCEPTED,
                        bench.pair.postBindWindow(11, window, bench.region, FROM, LENGTH, READ_WRITE, flags));
                assertEquals(List.of(), bench.device.ended());
                boolean bound = flags == SIGNALLED;
                if (bound) {
                    bench.reads(1, window.rkey(), bench.address(), 8);
                }
                bench.says(Frames.tagged(Frames.READ_RESPONSE, true, sink.lkey(), sink.address(), new byte[8]));
                assertEquals(
                        List.of(10L, 11L),
                        bench.device.ended().stream()
                                .map(FakeDevice.Ended::wrId)
                                .toList());
                if (!bound) {
                    bench.reads(1, window.rkey(), bench.address(), 8);
                }
            }
        }
    }

    @Test
    void shouldNotBindWhileAFencedBindWaits() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.window();
            MemoryRegion sink = bench.device.region(9, 64, AccessFlag.READ_SINK);
            assertEquals(PostStatus.ACCEPTED, bench.pair.postRead(10, sink, 0, 8, 4711, 42, SIGNALLED));
            assertEquals(
                    PostStatus.ACCEPTED,
                    bench.pair.postBindWindow(
                            11, window, bench.region, FROM, LENGTH, READ_WRITE, SIGNALLED | SendFlags.FENCE));
            bench.device.run();
            byte[] read = Frames.readRequest(1, 9, 99, 8, window.rkey(), bench.address());
            bench.says(read);
            bench.expectTerminate(INVALID_STAG, read);
        }
    }

    /** The peer takes nothing more: what needs no wire is done all the same. */
    @Test
    void shouldInvalidateWhileThePeerTakesNothing() {
        try (Bench bench = new Bench()) {
            MemoryRegion readable = bench.device.region(11, REGION, AccessFlag.REMOTE_READ);
            MemoryWindow window = bench.bound(READ_WRITE);
            bench.socket.takeOnly(50);
            bench.says(Frames.readRequest(1, 9, 99, REGION, readable.rkey(), readable.address()));
            bench.device.run();
            assertEquals(PostStatus.ACCEPTED, bench.pair.postInvalidate(2, window.rkey(), SIGNALLED));
            assertEquals(List.of(CompletionStatus.SUCCESS), bench.device.drain());
            bench.socket.takeAll();
            bench.device.run();
            assertEquals(QueuePairState.READY_TO_SEND, bench.pair.state());
        }
    }

    // ---- invalidation

    enum Invalidation {
        INVALIDATE,
        SEND_INVALIDATE,
        SEND_SOLICITED_INVALIDATE,
        CLOSE
    }

    private static void invalidate(Bench bench, Invalidation how, MemoryWindow window) {
        switch (how) {
            case INVALIDATE -> {
                assertEquals(PostStatus.ACCEPTED, bench.pair.postInvalidate(2, window.rkey(), SIGNALLED));
                assertEquals(List.of(CompletionStatus.SUCCESS), bench.device.drain());
            }
            case SEND_INVALIDATE, SEND_SOLICITED_INVALIDATE -> {
                assertEquals(PostStatus.ACCEPTED, bench.pair.postReceive(3, bench.received, 0, 10));
                bench.says(Frames.sendInvalidate(
                        how == Invalidation.SEND_SOLICITED_INVALIDATE, 1, window.rkey(), (byte) 5, (byte) 6));
                bench.device.run();
                WorkCompletion[] one = WorkCompletion.array(1);
                assertEquals(1, bench.device.queue().poll(one));
                assertEquals(CompletionOpcode.RECEIVE, one[0].opcode());
                assertEquals(2, one[0].byteLength());
                assertTrue(one[0].hasInvalidatedKey());
                assertFalse(one[0].hasImmediate());
                assertEquals(window.rkey(), one[0].invalidatedKey());
                assertEquals(5, bench.received.memory().get(ValueLayout.JAVA_BYTE, 0));
            }
            case CLOSE -> window.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Invalidation.class)
    void shouldRefuseTheKeyOnceItIsInvalidated(Invalidation how) {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            bench.reads(1, window.rkey(), bench.address(), 8);
            invalidate(bench, how, window);
            byte[] read = Frames.readRequest(2, 9, 99, 8, window.rkey(), bench.address());
            bench.says(read);
            bench.expectTerminate(INVALID_STAG, read);
        }
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            invalidate(bench, how, window);
            byte[] before = bench.bytes(0, REGION);
            byte[] write = Frames.tagged(Frames.WRITE, true, window.rkey(), bench.address(), (byte) 1);
            bench.says(write);
            bench.expectTerminate(TAGGED_STAG, write);
            assertArrayEquals(before, bench.bytes(0, REGION));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Invalidation.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"CLOSE"})
    void shouldHaveAnotherKeyWhenItIsBoundAgain(Invalidation how) {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            int first = window.rkey();
            invalidate(bench, how, window);
            bench.bind(window, Set.of(AccessFlag.REMOTE_READ));
            assertEquals(List.of(CompletionStatus.SUCCESS), bench.device.drain());
            assertNotEquals(first, window.rkey());
            bench.reads(1, window.rkey(), bench.address(), LENGTH);
            byte[] old = Frames.readRequest(2, 9, 99, 8, first, bench.address());
            bench.says(old);
            bench.expectTerminate(INVALID_STAG, old);
        }
    }

    @Test
    void shouldNeverHaveTheSameKeyTwiceInARow() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.window();
            int last = 0;
            for (int round = 0; round < 600; round++) {
                bench.bind(window, READ_WRITE);
                assertNotEquals(last, window.rkey());
                last = window.rkey();
                assertEquals(PostStatus.ACCEPTED, bench.pair.postInvalidate(2, last, SIGNALLED));
                assertEquals(List.of(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS), bench.device.drain());
            }
        }
    }

    /** The request was granted in the batch in which the key is taken back. */
    @Test
    void shouldRefuseAResponseThatWasGrantedBeforeTheInvalidation() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            byte[] read = Frames.readRequest(1, 9, 99, 8, window.rkey(), bench.address());
            assertEquals(PostStatus.ACCEPTED, bench.pair.postReceive(3, bench.received, 0, 10));
            bench.socket.give(TestBytes.concat(fpdu(read), fpdu(Frames.sendInvalidate(false, 1, window.rkey()))));
            bench.expectTerminate(INVALID_STAG, read);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Invalidation.class,
            names = {"INVALIDATE", "CLOSE"})
    void shouldStopAResponseThatHasBegun(Invalidation how) {
        try (Bench bench = new Bench("segment", "64", "copy-below", "1")) {
            byte[] live = bench.bytes(FROM, LENGTH);
            MemoryWindow window = bench.bound(READ_WRITE);
            bench.heard();
            bench.socket.takeOnly(200);
            bench.says(Frames.readRequest(1, 9, 99, LENGTH, window.rkey(), bench.address()));
            bench.device.run();
            invalidate(bench, how, window);
            bench.region.memory().asSlice(FROM, LENGTH).fill((byte) 0xDB);
            bench.socket.takeAll();
            bench.device.run();
            assertEquals(QueuePairState.ERROR, bench.pair.state());
            byte[] said = bench.heard();
            assertTrue(said.length < LENGTH, "the whole response was sent");
            assertFalse(TestBytes.hex(said).contains("dbdb"), "what was there after the invalidation");
            assertEquals(TestBytes.hex(TestBytes.slice(live, 0, 64)), TestBytes.hex(TestBytes.slice(said, 16, 80)));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Invalidation.class,
            names = {"INVALIDATE", "CLOSE"})
    void shouldStopAWriteThatHasBegun(Invalidation how) {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            byte[] write = fpdu(Frames.tagged(Frames.WRITE, true, window.rkey(), bench.address(), new byte[LENGTH]));
            bench.socket.give(TestBytes.slice(write, 0, 100));
            bench.device.run();
            invalidate(bench, how, window);
            bench.region.memory().fill((byte) 0xDB);
            bench.socket.give(TestBytes.slice(write, 100, write.length));
            bench.device.run();
            assertEquals(QueuePairState.ERROR, bench.pair.state());
            for (byte one : bench.bytes(0, REGION)) {
                assertEquals((byte) 0xDB, one);
            }
        }
    }

    @Test
    void shouldEndTheConnectionIfTheKeyIsTakenBackWithinTheSendThatInvalidatesIt() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            assertEquals(PostStatus.ACCEPTED, bench.pair.postReceive(3, bench.received, 0, 100));
            byte[] send = fpdu(Frames.sendInvalidate(false, 1, window.rkey(), new byte[100]));
            bench.socket.give(TestBytes.slice(send, 0, 60));
            bench.device.run();
            window.close();
            bench.heard();
            bench.socket.give(TestBytes.slice(send, 60, send.length));
            assertEquals(List.of(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR), bench.device.drain());
            assertEquals(
                    TestBytes.hex(fpdu(Frames.terminate(CANNOT_INVALIDATE, new byte[0], false, false))),
                    TestBytes.hex(bench.heard()));
        }
    }

    // ---- requests that fail

    /** What is wrong with a bind. */
    enum Wrong {
        BOUND,
        NO_BIND_RIGHT,
        BEYOND,
        EMPTY,
        NEEDS_LOCAL_WRITE,
        OTHER_DOMAIN,
        REGION_OF_OTHER_DOMAIN,
        REGION_CLOSED,
        WINDOW_CLOSED
    }

    @ParameterizedTest
    @EnumSource(Wrong.class)
    void shouldFailABindThatCannotBe(Wrong wrong) {
        try (Bench bench = new Bench()) {
            FakeDevice device = bench.device;
            MemoryWindow window = wrong == Wrong.BOUND ? bench.bound(READ_WRITE) : bench.window();
            int before = window.rkey();
            ProtectionDomain other = device.own(device.device().allocateProtectionDomain());
            MemoryRegion region = switch (wrong) {
                case NO_BIND_RIGHT -> device.region(1, REGION, AccessFlag.LOCAL_WRITE);
                case NEEDS_LOCAL_WRITE -> device.region(1, REGION, AccessFlag.BIND_WINDOWS);
                case REGION_OF_OTHER_DOMAIN ->
                    device.own(other.register(
                            device.memory(REGION), Set.of(AccessFlag.BIND_WINDOWS, AccessFlag.LOCAL_WRITE)));
                case REGION_CLOSED -> device.region(1, REGION, AccessFlag.BIND_WINDOWS, AccessFlag.LOCAL_WRITE);
                case BOUND, BEYOND, EMPTY, OTHER_DOMAIN, WINDOW_CLOSED -> bench.region;
            };
            if (wrong == Wrong.OTHER_DOMAIN) {
                window = device.own(other.allocateWindow());
            }
            int length = wrong == Wrong.EMPTY ? 0 : wrong == Wrong.BEYOND ? REGION - FROM + 1 : LENGTH;
            assertEquals(
                    PostStatus.ACCEPTED,
                    bench.pair.postBindWindow(2, window, region, FROM, length, READ_WRITE, SendFlags.NONE));
            if (wrong == Wrong.REGION_CLOSED) {
                region.close();
            } else if (wrong == Wrong.WINDOW_CLOSED) {
                window.close();
            }
            assertEquals(PostStatus.ACCEPTED, bench.pair.postSend(3, bench.received, 0, 1, SIGNALLED));
            assertEquals(List.of(CompletionStatus.MEMORY_WINDOW_BIND_ERROR, CompletionStatus.FLUSHED), device.drain());
            assertEquals(QueuePairState.ERROR, bench.pair.state());
            assertNotEquals(0, window.rkey());
            if (wrong == Wrong.BOUND) {
                assertNotEquals(before, window.rkey());
            }
        }
    }

    @Test
    void shouldFailAnInvalidationOfWhatIsNoWindowOfThisQueuePair() {
        for (Consumer<Bench> post : List.<Consumer<Bench>>of(
                bench -> bench.pair.postInvalidate(2, bench.region.rkey(), SIGNALLED),
                bench -> bench.pair.postInvalidate(2, 0, SIGNALLED),
                bench -> bench.pair.postInvalidate(2, bench.window().rkey() + 12345, SIGNALLED),
                bench -> {
                    MemoryWindow window = bench.bound(READ_WRITE);
                    bench.connected(bench.device.socket()).postInvalidate(2, window.rkey(), SIGNALLED);
                })) {
            try (Bench bench = new Bench()) {
                post.accept(bench);
                assertEquals(List.of(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR), bench.device.drain());
            }
        }
    }

    @Test
    void shouldRefuseToPostWhatCanNeverBe() {
        try (Bench bench = new Bench();
                FakeDevice strange = new FakeDevice()) {
            MemoryWindow foreign = strange.own(strange.domain().allocateWindow());
            assertThrows(IllegalArgumentException.class, () -> bench.bind(foreign, READ_WRITE));
            MemoryWindow closed = bench.window();
            closed.close();
            assertThrows(IllegalStateException.class, () -> bench.bind(closed, READ_WRITE));
            MemoryWindow window = bench.window();
            assertThrows(IllegalArgumentException.class, () -> bench.bind(window, Set.of(AccessFlag.LOCAL_WRITE)));
            assertEquals(0, window.rkey());
            assertEquals(List.of(), bench.device.drain());
        }
    }

    @Test
    void shouldFlushInError() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.window();
            bench.pair.disconnect();
            bench.device.run();
            bench.bind(window, READ_WRITE);
            assertEquals(PostStatus.ACCEPTED, bench.pair.postInvalidate(2, window.rkey(), SIGNALLED));
            assertEquals(List.of(CompletionStatus.FLUSHED, CompletionStatus.FLUSHED), bench.device.drain());
            bench.region.close();
        }
    }

    // ---- lifetimes

    @Test
    void shouldKeepItsRegionOpenAndAsItIs() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            MemoryRegion region = bench.region;
            for (Runnable end : List.<Runnable>of(
                    region::close, () -> region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_READ))))) {
                VerbsException refused = assertThrows(VerbsException.class, end::run);
                assertEquals(VerbsErrorCode.BUSY, refused.code());
            }
            bench.reads(1, window.rkey(), bench.address(), LENGTH);
            invalidate(bench, Invalidation.INVALIDATE, window);
            region.close();
            assertEquals(1, bench.device.counter("memoryWindows"));
            window.close();
            window.close();
            assertEquals(0, bench.device.counter("memoryWindows"));
        }
    }

    @Test
    void shouldKeepZeroBasedRegionsFromBeingSwapped() {
        try (Bench bench = new Bench()) {
            AccessFlag[] flags = {AccessFlag.ZERO_BASED, AccessFlag.BIND_WINDOWS};
            MemoryRegion one = bench.device.region(1, REGION, flags);
            MemoryRegion other = bench.device.region(2, REGION, flags);
            MemoryWindow window = bench.window();
            assertEquals(
                    PostStatus.ACCEPTED,
                    bench.pair.postBindWindow(1, window, one, FROM, 8, Set.of(AccessFlag.REMOTE_READ), SIGNALLED));
            assertEquals(List.of(CompletionStatus.SUCCESS), bench.device.drain());
            assertEquals(
                    VerbsErrorCode.BUSY,
                    assertThrows(VerbsException.class, () -> one.swap(other)).code());
            assertEquals(
                    VerbsErrorCode.BUSY,
                    assertThrows(VerbsException.class, () -> other.swap(one)).code());
            bench.says(Frames.readRequest(1, 9, 99, 8, window.rkey(), FROM));
            bench.heard();
            bench.device.run();
            byte[] expected = one.memory().asSlice(FROM, 8).toArray(ValueLayout.JAVA_BYTE);
            assertArrayEquals(fpdu(Frames.tagged(Frames.READ_RESPONSE, true, 9, 99, expected)), bench.heard());
            window.close();
            one.swap(other);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLetTheRegionGoWhenItsQueuePairOrAllWindowsAreClosed(boolean queuePair) {
        try (Bench bench = new Bench()) {
            List<MemoryWindow> windows =
                    List.of(bench.bound(READ_WRITE), bench.bound(READ_WRITE), bench.bound(READ_WRITE));
            if (queuePair) {
                bench.pair.close();
            } else {
                windows.get(1).close();
                windows.get(0).close();
                assertThrows(VerbsException.class, bench.region::close);
                windows.get(2).close();
            }
            bench.region.close();
        }
    }

    @Test
    void shouldBeBoundOnAnotherQueuePairOnceItsOwnIsGone() {
        try (Bench bench = new Bench()) {
            MemoryWindow window = bench.bound(READ_WRITE);
            int old = window.rkey();
            bench.pair.close();
            FakeSocket socket = bench.device.socket();
            QueuePair pair = bench.connected(socket);
            assertEquals(
                    PostStatus.ACCEPTED,
                    pair.postBindWindow(1, window, bench.region, FROM, LENGTH, READ_WRITE, SIGNALLED));
            assertEquals(List.of(CompletionStatus.SUCCESS), bench.device.drain());
            byte[] read = Frames.readRequest(1, 9, 99, 8, old, bench.address());
            socket.give(fpdu(read));
            bench.expectTerminate(socket, INVALID_STAG, read);
            socket.giveReset();
            bench.device.run();
        }
    }

    @Test
    void shouldKeepItsDomainOpen() {
        try (Bench bench = new Bench()) {
            ProtectionDomain domain = bench.device.own(bench.device.device().allocateProtectionDomain());
            MemoryWindow window = domain.allocateWindow();
            VerbsException busy = assertThrows(VerbsException.class, domain::close);
            assertEquals(VerbsErrorCode.BUSY, busy.code());
            assertEquals("1 memory windows still use this protection domain", busy.getMessage());
            window.close();
        }
    }

    @Test
    void shouldRefuseMoreThanTheTableHolds() {
        try (FakeDevice device = new FakeDevice("regions", "3")) {
            MemoryWindow one = device.domain().allocateWindow();
            device.own(device.domain().allocateWindow());
            device.own(device.domain().allocateWindow());
            VerbsException full =
                    assertThrows(VerbsException.class, () -> device.domain().allocateWindow());
            assertEquals(VerbsErrorCode.NO_RESOURCES, full.code());
            one.close();
            device.own(device.domain().allocateWindow());
            assertEquals(3, device.counter("memoryWindows"));
        }
    }

    // ---- the SEND that invalidates

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNameTheKeyInEverySegmentOfASend(boolean solicited) {
        try (Bench bench = new Bench("segment", "96")) {
            byte[] payload = bench.bytes(0, 200);
            int flags = SIGNALLED | (solicited ? SendFlags.SOLICITED : SendFlags.NONE);
            bench.heard();
            assertEquals(
                    PostStatus.ACCEPTED, bench.pair.postSendInvalidate(4, bench.region, 0, 200, 0x1234_5678, flags));
            assertEquals(PostStatus.ACCEPTED, bench.pair.postSend(5, bench.region, 0, 1, flags));
            bench.device.run();
            int opcode = solicited ? Frames.SEND_SOLICITED_INVALIDATE : Frames.SEND_INVALIDATE;
            byte[][] segments = {
                Frames.untagged(opcode, false, 0, 1, 0, TestBytes.slice(payload, 0, 96)),
                Frames.untagged(opcode, false, 0, 1, 96, TestBytes.slice(payload, 96, 192)),
                Frames.untagged(opcode, true, 0, 1, 192, TestBytes.slice(payload, 192, 200))
            };
            byte[] all = new byte[0];
            for (byte[] segment : segments) {
                java.nio.ByteBuffer.wrap(segment).putInt(2, 0x1234_5678);
                all = TestBytes.concat(all, fpdu(segment));
            }
            int plain = solicited ? Frames.SEND_SOLICITED : Frames.SEND;
            all = TestBytes.concat(all, fpdu(Frames.untagged(plain, true, 0, 2, 0, payload[0])));
            assertEquals(TestBytes.hex(all), TestBytes.hex(bench.heard()));
            WorkCompletion[] one = WorkCompletion.array(1);
            assertEquals(1, bench.device.queue().poll(one));
            assertEquals(CompletionOpcode.SEND, one[0].opcode());
        }
    }
}
