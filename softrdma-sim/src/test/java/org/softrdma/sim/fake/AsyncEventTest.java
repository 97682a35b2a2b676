package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent.Kind;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** What happens to queue pairs and completion queues, and what the application is told of it. */
class AsyncEventTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 1, 1, 0);
    private static final long LONG_NS = 3_600_000_000_000L;

    private final FakeDevice device = new FakeDevice();

    private Optional<AsyncEvent> event() {
        return device.device().awaitEvent(0);
    }

    private void end(FakeSocket socket) {
        socket.giveReset();
        device.run();
        device.close();
    }

    /** What a peer's segment raises. */
    private void expect(Optional<Kind> kind, byte[] segment) {
        FakeSocket socket = device.socket();
        QueuePair pair = device.own(device.connect(socket, LIMITS, 1));
        socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
        socket.give(Frames.fpdu(segment, false));
        device.run();
        assertEquals(kind.map(what -> new QueuePairEvent(pair, what)), event());
        assertEquals(Optional.empty(), event());
        assertEquals(QueuePairState.ERROR, pair.state());
        end(socket);
    }

    @Test
    void shouldTellOfAnAccessThatWasRefused() {
        expect(Optional.of(Kind.ACCESS_ERROR), Frames.tagged(Frames.WRITE, true, 7, 7, (byte) 1));
    }

    @Test
    void shouldTellOfAReadThatWasRefused() {
        expect(Optional.of(Kind.ACCESS_ERROR), Frames.readRequest(1, 2, 3, 4, 5, 6));
    }

    @Test
    void shouldTellOfARequestThatCannotBe() {
        expect(Optional.of(Kind.REQUEST_ERROR), Frames.send(1));
    }

    @Test
    void shouldNotTellOfAnEndInOrder() {
        expect(Optional.empty(), Frames.terminate(0x0202, new byte[0], false, false));
    }

    @Test
    void shouldTellOfAFaultOfThisSide() {
        FakeSocket socket = device.socket();
        QueuePair pair = device.own(device.connect(socket, LIMITS, 1));
        device.countTransportCalls(socket);
        device.nativeMemory().failAt(1, () -> new InternalError("injected"));
        socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
        device.run();
        device.nativeMemory().failNever();
        assertEquals(Optional.of(new QueuePairEvent(pair, Kind.FATAL)), event());
        assertEquals(Optional.empty(), event());
        end(socket);
    }

    @Test
    void shouldTellOfACompletionQueueThatHasOverrunAndOfItsQueuePairs() {
        CompletionQueue small = device.own(device.device().createCompletionQueue(1));
        FakeSocket socket = device.socket();
        QueuePair pair = device.own(device.connect(socket, QueuePairAttributes.of(small, LIMITS), 1));
        MemoryRegion memory = device.region(1, 16, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < 3; i++) {
            pair.postReceive(i, memory, 0, 16);
            socket.give(Frames.fpdu(Frames.send(i + 1), false));
        }
        device.run();
        assertEquals(Optional.of(new CompletionQueueEvent(small)), event());
        assertEquals(Optional.of(new QueuePairEvent(pair, Kind.FATAL)), event());
        assertEquals(Optional.empty(), event());
        end(socket);
    }

    @Test
    void shouldTellNothingOfAClosedQueuePair() {
        FakeSocket socket = device.socket();
        QueuePair pair = device.connect(socket, LIMITS, 1);
        socket.give(Frames.fpdu(Frames.send(1), false));
        device.run();
        pair.close();
        assertEquals(Optional.empty(), event());
        end(socket);
    }

    /** In manual progress waiting drives the device. */
    @Test
    void shouldDriveTheDeviceWhileItWaits() {
        FakeSocket socket = device.socket();
        QueuePair pair = device.own(device.connect(socket, LIMITS, 1));
        socket.give(Frames.fpdu(Frames.send(1), false));
        assertEquals(
                List.of(new QueuePairEvent(pair, Kind.REQUEST_ERROR)),
                device.device().awaitEvent(LONG_NS).stream().toList());
        end(socket);
    }

    @Test
    void shouldEndAWaitByAnInterrupt() {
        Thread.currentThread().interrupt();
        VerbsException interrupted =
                assertThrows(VerbsException.class, () -> device.device().awaitEvent(LONG_NS));
        assertEquals(true, Thread.interrupted());
        assertEquals(VerbsErrorCode.INTERRUPTED, interrupted.code());
        device.close();
    }

    @Test
    void shouldRefuseOnceTheDeviceIsClosed() {
        device.close();
        assertThrows(IllegalStateException.class, () -> device.device().awaitEvent(0));
    }
}
