package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;

/** A loop that cannot go on ends its queue pairs, with a status and a reason: none stays ready with nobody behind it. */
class BrokenLoopTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 1, 1, 0);
    private static final int LENGTH = 5000;
    private static final byte[] FIRST = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);

    @Test
    void shouldFlushAndCloseAllConnections() {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion memory = device.region(3, LENGTH, AccessFlag.RECEIVE_SINK);
            FakeSocket one = device.socket();
            FakeSocket other = device.socket();
            try (QueuePair first = device.connect(one, LIMITS, 4);
                    QueuePair second = device.connect(other, LIMITS, 4)) {
                one.give(FIRST);
                device.run();
                first.postReceive(1, memory, 0, LENGTH);
                second.postReceive(2, memory, 0, LENGTH);

                device.breakLoop();

                assertEquals(List.of(CompletionStatus.FLUSHED, CompletionStatus.FLUSHED), device.drain());
                assertEquals(QueuePairState.ERROR, first.state());
                assertEquals(QueuePairState.ERROR, second.state());
                assertTrue(one.isClosed() && other.isClosed(), "the sockets are closed");
                assertEquals(
                        "the event loop has failed",
                        first.disconnected().toCompletableFuture().getNow("nothing"));
            }
        }
    }
}
