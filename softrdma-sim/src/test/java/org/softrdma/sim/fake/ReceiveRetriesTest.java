package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;

/**
 * A receive into registered memory ends early at a page that is gone, and no event follows, because everything has come already: the
 * connection does not stand still.
 */
class ReceiveRetriesTest {
    private static final int LENGTH = 40_000;
    private static final int PAGE = 4096;
    private static final byte[] FIRST = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);

    @Test
    void shouldFailAReadWhoseSinkIsGoneBehindItsFirstPage() {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion sink = device.region(3, LENGTH, AccessFlag.READ_SINK);
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, QueuePairLimits.of(4, 4), 4)) {
                read(device, socket, pair, sink);
                socket.pageGoneAfter(PAGE).give(response(sink));

                assertEquals(List.of(), device.drain());
                assertFalse(socket.isClosed(), "nothing is known yet");
                device.advance(1000);

                assertEquals(List.of(CompletionStatus.FLUSHED), device.drain());
                assertTrue(socket.isClosed(), "the socket is closed");
                assertEquals(0, device.counter("engineFaults"));
            }
        }
    }

    @Test
    void shouldGoOnWhenTheRestWasOnlyLate() {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion sink = device.region(3, LENGTH, AccessFlag.READ_SINK);
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, QueuePairLimits.of(4, 4), 4)) {
                read(device, socket, pair, sink);
                byte[] response = response(sink);
                socket.give(TestBytes.slice(response, 0, 20_000));
                assertEquals(List.of(), device.drain());
                device.advance(1000);
                assertEquals(List.of(), device.drain());
                socket.give(TestBytes.slice(response, 20_000, response.length));

                assertEquals(List.of(CompletionStatus.SUCCESS), device.drain());
                device.advance(10_000);
                device.run();
                assertFalse(socket.isClosed(), "the connection goes on");
            } finally {
                socket.giveReset();
                device.drain();
            }
        }
    }

    @Test
    void shouldRetryAgainAfterARoundInWhichAnotherConnectionHadToWaitAgain() {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion sink = device.region(3, LENGTH, AccessFlag.READ_SINK);
            FakeSocket slow = device.socket();
            FakeSocket socket = device.socket();
            try (QueuePair slowPair = device.connect(slow, QueuePairLimits.of(4, 4), 4);
                    QueuePair pair = device.connect(socket, QueuePairLimits.of(4, 4), 4)) {
                read(device, slow, slowPair, sink);
                read(device, socket, pair, sink);
                byte[] response = response(sink);
                slow.give(TestBytes.slice(response, 0, 20_000));
                socket.give(TestBytes.slice(response, 0, 20_000));
                assertEquals(List.of(), device.drain());
                slow.give(TestBytes.slice(response, 20_000, 25_000));
                device.advance(1000);

                socket.pageGoneAfter(PAGE).give(TestBytes.slice(response, 20_000, response.length));
                assertEquals(List.of(), device.drain());
                device.advance(1000);

                assertEquals(List.of(CompletionStatus.FLUSHED), device.drain());
                assertTrue(socket.isClosed(), "the socket is closed");
                assertFalse(slow.isClosed(), "the other connection goes on");
            } finally {
                slow.giveReset();
                device.drain();
            }
        }
    }

    private static void read(FakeDevice device, FakeSocket socket, QueuePair pair, MemoryRegion sink) {
        socket.give(FIRST);
        device.run();
        assertEquals(PostStatus.ACCEPTED, pair.postRead(1, sink, 0, LENGTH, 1000, 99, SendFlags.SIGNALLED));
        device.run();
    }

    private static byte[] response(MemoryRegion sink) {
        return Frames.fpdu(
                Frames.tagged(Frames.READ_RESPONSE, true, sink.lkey(), sink.address(), TestBytes.pattern(5, LENGTH)),
                false);
    }
}
