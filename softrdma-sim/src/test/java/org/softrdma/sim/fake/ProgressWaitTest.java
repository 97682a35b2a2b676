package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** Whether a device in manual progress waits. */
class ProgressWaitTest {
    private static final long WAIT_NS = 1_000;
    private static final int LENGTH = 8;

    @Test
    void shouldNotWaitWhenARequestHasCompletedSinceTheLastTurn() {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            MemoryRegion source = device.region(1, LENGTH, AccessFlag.LOCAL_WRITE);
            CompletionQueue other = device.own(device.device().createCompletionQueue(1));
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, QueuePairLimits.of(1, 1), 1)) {
                socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false)); // now this end may send
                device.run();
                long beganNs = device.nowNs();
                assertEquals(PostStatus.ACCEPTED, pair.postWrite(7, source, 0, LENGTH, 0, 1, SendFlags.SIGNALLED));
                WorkCompletion[] one = WorkCompletion.array(1);
                assertEquals(0, other.poll(one), "this drives the device, too");

                assertEquals(1, device.device().progress(WAIT_NS));
                assertEquals(beganNs, device.nowNs(), "it waits although the WRITE is complete");
                assertEquals(0, device.device().progress(WAIT_NS));
                assertEquals(beganNs + WAIT_NS, device.nowNs(), "nothing was new");
                assertEquals(1, device.queue().poll(one));
                assertEquals(CompletionStatus.SUCCESS, one[0].status());
            } finally {
                socket.giveReset();
                device.run();
            }
        }
    }

    @Test
    void shouldNotWaitOnceAfterWakeUps() {
        try (FakeDevice device = new FakeDevice()) {
            device.run();
            long beganNs = device.nowNs();
            for (int i = 0; i < 3; i++) {
                device.device().wakeUp();
                device.device().wakeUp();
                assertEquals(1, device.device().progress(WAIT_NS), "wake-ups in turn " + i);
            }
            assertEquals(beganNs, device.nowNs());
            assertEquals(0, device.device().progress(WAIT_NS));
            assertEquals(beganNs + WAIT_NS, device.nowNs());
        }
    }
}
