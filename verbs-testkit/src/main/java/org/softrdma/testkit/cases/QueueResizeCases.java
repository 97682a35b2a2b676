package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;

/** Changing the size of a completion queue: what is in it stays, in order, and nothing is lost on the way. */
@ExtendWith(TwoNodesExtension.class)
public final class QueueResizeCases {
    private static final int BYTES = 64;
    private static final int SMALL = 16;
    private static final int LARGE = 300;
    /** A completion may be seen a little later than one of another queue that came behind it. */
    private static final long LATER_NS = 2_000_000;

    /** Made by JUnit. */
    public QueueResizeCases() {}

    /** Posts READs and waits, without taking them, until all have completed: a fenced SEND behind them is answered. */
    private static void fill(TwoNodes nodes, LoopbackPair pair, int first, int count) {
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (int i = first; i < first + count; i++) {
            pair.requester().read(i, sink, source);
        }
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion answer = nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK);
        pair.responder().receive(1, inbox, 0, BYTES);
        pair.requester().receive(2, answer, 0, BYTES);
        Endpoint.require(pair.requester().queuePair().postSend(0, sink, 0, BYTES, SendFlags.FENCE), "fenced SEND");
        pair.responder().receives().expect(1, CompletionOpcode.RECEIVE, BYTES);
        pair.responder().send(3, inbox, 0, BYTES);
        pair.responder().sends().expect(3, CompletionOpcode.SEND, BYTES);
        pair.requester().receives().expect(2, CompletionOpcode.RECEIVE, BYTES);
        nodes.linger(LATER_NS);
    }

    @Test
    @ConformanceCase(
            number = 61,
            title = "a queue is not made smaller than what is in it; larger or smaller, it keeps that in order",
            source = "pyverbs test_cq resize; ibv_resize_cq(3) EINVAL; IBTA 11.2.8.3")
    void shouldKeepWhatIsInTheQueue(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.QUEUE_RESIZE);
        CompletionReader sends = nodes.requester().completions(LARGE);
        CompletionQueue queue = sends.queue();
        LoopbackPair pair = nodes.connect(new ConnectionSpec()
                .requesterLimits(QueuePairLimits.of(LARGE, 16))
                .requesterSends(sends));
        int most = nodes.requester().device().capabilities().maxCompletionQueueEntries();
        for (int entries : new int[] {0, -1}) {
            assertThrows(IllegalArgumentException.class, () -> queue.resize(entries), entries + " entries");
        }
        if (most < Integer.MAX_VALUE) {
            assertThrows(IllegalArgumentException.class, () -> queue.resize(most + 1));
        }
        int unread = LARGE / 2;
        fill(nodes, pair, 0, unread);
        int before = queue.entries();
        Refusals.expectCode(VerbsErrorCode.INVALID, () -> queue.resize(SMALL), "a size below what is in the queue");
        assertEquals(before, queue.entries(), "entries after a resize that was refused");
        queue.resize(Math.min(2 * LARGE, most));
        assertTrue(queue.entries() >= Math.min(2 * LARGE, most), "entries: " + queue.entries());
        for (int i = 0; i < unread / 2; i++) {
            sends.expect(i, CompletionOpcode.READ, BYTES);
        }
        fill(nodes, pair, unread, SMALL);
        queue.resize(LARGE);
        assertTrue(queue.entries() >= LARGE, "entries: " + queue.entries());
        for (int i = unread / 2; i < unread + SMALL; i++) {
            sends.expect(i, CompletionOpcode.READ, BYTES);
        }
        queue.resize(SMALL);
        assertTrue(queue.entries() >= SMALL, "entries: " + queue.entries());
        fill(nodes, pair, 0, SMALL);
        for (int i = 0; i < SMALL; i++) {
            sends.expect(i, CompletionOpcode.READ, BYTES);
        }
    }

    @Test
    @ConformanceCase(
            number = 389,
            title = "a queue changes its size again and again under load: every completion comes once, in order",
            source = "CompletionQueue.resize (any thread, while others poll); ibv_resize_cq(3)")
    void shouldLoseNothingWhenTheSizeChangesUnderLoad(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.QUEUE_RESIZE);
        int inFlight = 64;
        int reads = nodes.times(10_000);
        CompletionReader sends = nodes.requester().completions(inFlight + 1);
        LoopbackPair pair = nodes.connect(new ConnectionSpec().requesterSends(sends));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        AtomicBoolean stop = new AtomicBoolean();
        boolean byThread = !nodes.requester().device().manualProgress();
        Task<Integer> resizing = nodes.start("resize", () -> byThread ? resize(nodes, sends.queue(), stop) : 0);
        try {
            for (int posted = 0, taken = 0; taken < reads; taken++) {
                for (; posted < reads && posted < taken + inFlight; posted++) {
                    pair.requester().read(posted, sink, source);
                }
                if (!byThread && taken % 100 == 0) {
                    sends.queue().resize(size(taken / 100));
                }
                sends.expect(taken, CompletionOpcode.READ, BYTES);
            }
        } finally {
            stop.set(true);
        }
        assertTrue(resizing.get() > 0 || !byThread, "the size was never changed");
    }

    private static int resize(TwoNodes nodes, CompletionQueue queue, AtomicBoolean stop) {
        int times = 0;
        while (!stop.get() || times == 0) {
            queue.resize(size(times++));
            nodes.spin(2000);
        }
        return times;
    }

    /** Always room for what is in flight. */
    private static int size(int number) {
        return 65 + number * 97 % 500;
    }

    @Test
    @ConformanceCase(
            number = 390,
            title = "a queue that is armed stays armed when its size changes",
            source = "CompletionQueue.resize, requestNotification; ibv_req_notify_cq(3)")
    void shouldStayArmedWhenTheSizeChanges(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.QUEUE_RESIZE);
        CompletionChannel channel = nodes.requester().channel();
        CompletionReader sends = nodes.requester().completions(SMALL, channel);
        LoopbackPair pair = nodes.connect(new ConnectionSpec().requesterSends(sends));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (int entries : new int[] {LARGE, SMALL, LARGE}) {
            sends.queue().requestNotification(false);
            sends.queue().resize(entries);
            pair.requester().read(1, sink, source);
            nodes.await("the event of an armed queue", () -> channel.await(0).isPresent());
            sends.queue().acknowledgeEvents(1);
            sends.expect(1, CompletionOpcode.READ, BYTES);
        }
    }
}
