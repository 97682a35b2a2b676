package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;

/** What fails inside the engine, memory that cannot be allocated included, costs one connection: flushed, closed, counted. */
class EngineFaultTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 1, 1, 0);
    private static final int LENGTH = 5000;
    private static final byte[] FIRST = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);

    private static void fail(String kind) {
        if (kind.equals("OutOfMemoryError")) {
            throw new OutOfMemoryError("Cannot reserve 65544 bytes of direct buffer memory");
        }
        throw new IllegalStateException("a bug");
    }

    @ParameterizedTest
    @ValueSource(strings = {"OutOfMemoryError", "IllegalStateException"})
    void shouldCostTheConnectionThatReceives(String kind) {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.RECEIVE_SINK);
            FakeSocket socket = device.socket();
            FakeSocket other = device.socket();
            try (QueuePair pair = device.connect(socket, LIMITS, 4);
                    QueuePair bystander = device.connect(other, LIMITS, 4)) {
                pair.postReceive(1, memory, 0, LENGTH);

                socket.give(FIRST).meanwhile(() -> fail(kind));

                assertEquals(List.of(CompletionStatus.FLUSHED), device.drain());
                requireEnded(device, socket, pair);
                requireServed(device, other, bystander, memory);
            } finally {
                other.giveReset();
                device.drain();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"OutOfMemoryError", "IllegalStateException"})
    void shouldCostTheConnectionThatSends(String kind) {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.RECEIVE_SINK);
            FakeSocket socket = device.socket();
            FakeSocket other = device.socket();
            try (QueuePair pair = device.connect(socket, LIMITS, 4);
                    QueuePair bystander = device.connect(other, LIMITS, 4)) {
                socket.give(FIRST);
                device.run();

                socket.taking(offered -> {
                    fail(kind);
                    return offered;
                });
                pair.postSend(1, memory, 0, LENGTH, SendFlags.SIGNALLED);

                assertEquals(List.of(CompletionStatus.FLUSHED), device.drain());
                requireEnded(device, socket, pair);
                requireServed(device, other, bystander, memory);
            } finally {
                other.giveReset();
                device.drain();
            }
        }
    }

    private static void requireEnded(FakeDevice device, FakeSocket socket, QueuePair pair) {
        assertEquals(QueuePairState.ERROR, pair.state());
        assertTrue(socket.isClosed(), "the socket is closed");
        assertEquals(1, device.counter("engineFaults"));
        assertEquals(1, device.counter("connectionsClosed"));
    }

    private static void requireServed(FakeDevice device, FakeSocket socket, QueuePair pair, MemoryRegion memory) {
        pair.postReceive(2, memory, 0, LENGTH);
        socket.give(Frames.fpdu(Frames.send(1, TestBytes.pattern(1, 100)), false));
        assertEquals(List.of(CompletionStatus.SUCCESS), device.drain());
    }
}
