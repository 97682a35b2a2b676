package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Queue pairs that take their RECVs from one queue, with peers whose every segment is made by hand. */
class SharedReceivesTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(16, 1, 2, 1, 0);
    private static final int BUFFER = 100;
    private static final int RECEIVES = 8;

    /** A device with a shared queue of RECVs. */
    private static final class Bench implements AutoCloseable {
        private final FakeDevice device = new FakeDevice();
        private final ProtectionDomain domain = device.own(device.device().allocateProtectionDomain());
        private final MemoryRegion memory =
                device.own(domain.register(device.memory((long) RECEIVES * BUFFER), Set.of(AccessFlag.RECEIVE_SINK)));
        private final SharedReceiveQueue shared = device.own(domain.createSharedReceiveQueue(RECEIVES, 2));
        private final List<FakeSocket> sockets = new ArrayList<>();

        /** A queue pair of another domain than the RECVs. */
        Pair pair() {
            FakeSocket socket = device.socket();
            sockets.add(socket);
            QueuePairAttributes attributes =
                    QueuePairAttributes.of(device.queue(), LIMITS).withSharedReceives(shared);
            return new Pair(socket, device.own(device.connect(socket, attributes, 1)));
        }

        void post(int count) {
            for (int wrId = 0; wrId < count; wrId++) {
                assertEquals(PostStatus.ACCEPTED, shared.postReceive(wrId, memory, (long) wrId * BUFFER, BUFFER));
            }
        }

        List<AsyncEvent> events() {
            List<AsyncEvent> events = new ArrayList<>();
            for (Optional<AsyncEvent> next = device.device().awaitEvent(0);
                    next.isPresent();
                    next = device.device().awaitEvent(0)) {
                events.add(next.get());
            }
            return events;
        }

        /** What ended, as number of the request, number of the queue pair, and status. */
        List<FakeDevice.Ended> ended() {
            return device.ended();
        }

        @Override
        public void close() {
            sockets.forEach(FakeSocket::giveReset);
            device.run();
            device.close();
        }
    }

    private record Pair(FakeSocket socket, QueuePair verbs) {
        void says(byte[]... segments) {
            for (byte[] segment : segments) {
                socket.give(Frames.fpdu(segment, false));
            }
        }

        FakeDevice.Ended ended(long wrId, CompletionStatus status) {
            return new FakeDevice.Ended(wrId, verbs.number(), status);
        }
    }

    @Test
    void shouldConsumeAReceiveForEachMessageWhicheverQueuePairItArrivesOn() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            Pair other = bench.pair();
            bench.post(3);
            other.says(Frames.send(1, TestBytes.pattern(1, 20)));
            bench.device.run();
            one.says(Frames.send(1, TestBytes.pattern(2, 30)));
            bench.device.run();
            other.says(Frames.send(2));
            assertEquals(
                    List.of(
                            other.ended(0, CompletionStatus.SUCCESS),
                            one.ended(1, CompletionStatus.SUCCESS),
                            other.ended(2, CompletionStatus.SUCCESS)),
                    bench.ended());
            byte[] got = bench.memory.memory().asSlice(BUFFER, 30).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            assertEquals(TestBytes.hex(TestBytes.pattern(2, 30)), TestBytes.hex(got));
            bench.post(RECEIVES);
        }
    }

    @Test
    void shouldRefuseReceivesOfTheirOwn() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            assertThrows(IllegalStateException.class, () -> one.verbs.postReceive(1, bench.memory, 0, 1));
            bench.post(1);
            one.says(Frames.send(1));
            assertEquals(List.of(one.ended(0, CompletionStatus.SUCCESS)), bench.ended());
        }
    }

    @Test
    void shouldEndOnlyTheConnectionWhoseMessageFindsNoReceive() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            Pair other = bench.pair();
            one.says(Frames.send(1));
            bench.device.run();
            assertEquals(QueuePairState.ERROR, one.verbs.state());
            bench.post(1);
            other.says(Frames.send(1));
            assertEquals(List.of(other.ended(0, CompletionStatus.SUCCESS)), bench.ended());
        }
    }

    @Test
    void shouldLeaveTheReceivesToOthersWhenOneQueuePairFails() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            Pair other = bench.pair();
            bench.post(3);
            one.says(Frames.tagged(Frames.WRITE, true, 1, 2, (byte) 3));
            bench.device.run();
            assertEquals(QueuePairState.ERROR, one.verbs.state());
            assertEquals(List.of(), bench.ended());
            assertEquals(
                    List.of(
                            new QueuePairEvent(one.verbs, QueuePairEvent.Kind.ACCESS_ERROR),
                            new QueuePairEvent(one.verbs, QueuePairEvent.Kind.LAST_REQUEST_REACHED)),
                    bench.events());
            for (int i = 1; i <= 3; i++) {
                other.says(Frames.send(i));
            }
            assertEquals(
                    List.of(
                            other.ended(0, CompletionStatus.SUCCESS),
                            other.ended(1, CompletionStatus.SUCCESS),
                            other.ended(2, CompletionStatus.SUCCESS)),
                    bench.ended());
            assertEquals(List.of(), bench.events());
        }
    }

    @Test
    void shouldFlushTheReceiveOfAMessageThatHasBegun() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            Pair other = bench.pair();
            bench.post(2);
            byte[] half = Frames.fpdu(Frames.send(1, new byte[50]), false);
            one.socket.give(TestBytes.slice(half, 0, 40));
            bench.device.run();
            other.says(Frames.send(1));
            bench.device.run();
            one.socket.giveEnd();
            assertEquals(
                    List.of(other.ended(1, CompletionStatus.SUCCESS), one.ended(0, CompletionStatus.FLUSHED)),
                    bench.ended());
            assertEquals(
                    List.of(new QueuePairEvent(one.verbs, QueuePairEvent.Kind.LAST_REQUEST_REACHED)), bench.events());
        }
    }

    @Test
    void shouldFailTheReceiveThatIsTooShort() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            bench.post(2);
            one.says(Frames.send(1, new byte[BUFFER + 1]));
            assertEquals(List.of(one.ended(0, CompletionStatus.LOCAL_LENGTH_ERROR)), bench.ended());
            assertEquals(
                    List.of(
                            new QueuePairEvent(one.verbs, QueuePairEvent.Kind.REQUEST_ERROR),
                            new QueuePairEvent(one.verbs, QueuePairEvent.Kind.LAST_REQUEST_REACHED)),
                    bench.events());
        }
    }

    /** The domain of the shared queue counts, not that of the queue pair. */
    @Test
    void shouldTakeMemoryOfItsOwnDomainOnly() {
        try (Bench bench = new Bench()) {
            MemoryRegion ofThePair = bench.device.region(3, BUFFER, AccessFlag.RECEIVE_SINK);
            Pair one = bench.pair();
            assertEquals(PostStatus.ACCEPTED, bench.shared.postReceive(7, ofThePair, 0, BUFFER));
            one.says(Frames.send(1, (byte) 1));
            assertEquals(List.of(one.ended(7, CompletionStatus.LOCAL_PROTECTION_ERROR)), bench.ended());
        }
    }

    @Test
    void shouldRaiseTheLimitEventOnce() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            bench.post(4);
            bench.shared.arm(3);
            one.says(Frames.send(1));
            bench.device.run();
            assertEquals(List.of(), bench.events());
            one.says(Frames.send(2), Frames.send(3));
            bench.device.run();
            assertEquals(
                    List.of(new SharedReceiveQueueEvent(bench.shared, SharedReceiveQueueEvent.Kind.LIMIT_REACHED)),
                    bench.events());
        }
    }

    @Test
    void shouldNotBeClosedWhileAQueuePairUsesIt() {
        try (Bench bench = new Bench()) {
            Pair one = bench.pair();
            bench.post(RECEIVES);
            one.says(Frames.send(1), Frames.send(2));
            bench.device.run();
            assertEquals(
                    VerbsErrorCode.BUSY,
                    assertThrows(VerbsException.class, bench.shared::close).code());
            assertEquals(
                    VerbsErrorCode.BUSY,
                    assertThrows(VerbsException.class, bench.domain::close).code());
            one.verbs.close();
            bench.post(2);
            assertEquals(
                    PostStatus.QUEUE_FULL, bench.shared.postReceive(9, bench.memory, 0, 1), "the two were given back");
            assertEquals(List.of(), bench.ended());
            bench.shared.close();
            assertThrows(IllegalStateException.class, bench::pair);
        }
    }

    @Test
    void shouldRefuseOtherDevicesAndSizes() {
        try (Bench bench = new Bench();
                FakeDevice strange = new FakeDevice()) {
            QueuePairAttributes foreign =
                    QueuePairAttributes.of(strange.queue(), LIMITS).withSharedReceives(bench.shared);
            FakeSocket socket = strange.socket();
            assertThrows(IllegalArgumentException.class, () -> strange.connect(socket, foreign, 1));
            socket.giveReset();
            strange.run();
            int most = strange.device().capabilities().maxSharedReceiveWorkRequests();
            ProtectionDomain domain = strange.domain();
            assertThrows(IllegalArgumentException.class, () -> domain.createSharedReceiveQueue(0, 1));
            assertThrows(IllegalArgumentException.class, () -> domain.createSharedReceiveQueue(most + 1, 1));
            assertThrows(IllegalArgumentException.class, () -> domain.createSharedReceiveQueue(1, 0));
            assertThrows(IllegalArgumentException.class, () -> domain.createSharedReceiveQueue(1, 17));
            assertTrue(most >= 1 << 16);
        }
    }
}
