package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/** Completion queues: sizes, sharing, order, fields after an error, and overruns. */
@ExtendWith(TwoNodesExtension.class)
public final class CompletionQueueCases {
    private static final int BYTES = 64;

    /** Made by JUnit. */
    public CompletionQueueCases() {}

    @Test
    @ConformanceCase(
            number = 55,
            title = "a queue holds at least the requested entries; sizes of 0, below and above the limit are refused",
            source = "rdma-unit-test CqTest.Basic, ZeroCqe, NegativeCqe, LargeCqe; ibv_create_cq(3)")
    void shouldCheckSizeWhenQueueIsCreated(TwoNodes nodes) {
        VerbsDevice device = nodes.requester().device();
        for (int entries : new int[] {1, 2, 100, 1000}) {
            int asked = Math.min(entries, device.capabilities().maxCompletionQueueEntries());
            CompletionQueue queue = nodes.own(device.createCompletionQueue(asked));
            assertTrue(queue.entries() >= asked, queue.entries() + " entries, asked for " + asked);
        }
        assertThrows(IllegalArgumentException.class, () -> device.createCompletionQueue(0));
        assertThrows(IllegalArgumentException.class, () -> device.createCompletionQueue(-1));
        int max = device.capabilities().maxCompletionQueueEntries();
        if (max < Integer.MAX_VALUE) {
            assertThrows(IllegalArgumentException.class, () -> device.createCompletionQueue(max + 1));
        }
    }

    @Test
    @ConformanceCase(
            number = 56,
            title = "every completion vector works, others are refused",
            source = "rdma-unit-test CqTest.CreateCqWithInvalidCompVector; ibv_create_cq(3) comp_vector")
    void shouldCheckVectorWhenQueueIsCreated(TwoNodes nodes) {
        VerbsDevice device = nodes.requester().device();
        var channel = nodes.requester().channel();
        int vectors = device.capabilities().completionVectors();
        for (int vector = 0; vector < Math.min(vectors, 64); vector++) {
            nodes.own(device.createCompletionQueue(1, channel, vector));
        }
        assertThrows(IllegalArgumentException.class, () -> device.createCompletionQueue(1, channel, -1));
        assertThrows(IllegalArgumentException.class, () -> device.createCompletionQueue(1, channel, vectors));
    }

    @Test
    @ConformanceCase(
            number = 57,
            title = "a queue with a queue pair refuses to close, and closes once that is gone",
            source = "rdma-unit-test CqTest.QueueRefs; ibv_destroy_cq(3) EBUSY")
    void shouldRefuseToCloseQueueWhenAQueuePairUsesIt(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        CompletionReader sends = pair.requester().sends();
        CompletionReader receives = pair.requester().receives();
        Refusals.expectBusy(sends.queue()::close, "closing the queue of a send queue");
        Refusals.expectBusy(receives.queue()::close, "closing the queue of a receive queue");
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        pair.requester().read(1, sink, source);
        sends.expect(1, CompletionOpcode.READ, BYTES);
        pair.requester().queuePair().close();
        sends.close();
        receives.close();
        sends.close();
    }

    @Test
    @ConformanceCase(
            number = 58,
            title = "queue pairs share a completion queue: every completion once, in order per queue pair",
            source = "rdma-unit-test CqTest.SharedCq; ibv_create_qp(3)")
    void shouldKeepOrderOfEachQueuePairWhenTheyShareAQueue(TwoNodes nodes) {
        int pairCount = 4;
        int reads = nodes.times(100);
        CompletionReader shared = nodes.requester().completions(pairCount * 128);
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        List<LoopbackPair> pairs = new ArrayList<>();
        Map<Integer, Integer> next = new HashMap<>();
        for (int i = 0; i < pairCount; i++) {
            LoopbackPair pair =
                    nodes.connect(new ConnectionSpec().requesterSends(shared).requesterReceives(shared));
            pairs.add(pair);
            next.put(pair.requester().queuePair().number(), 0);
        }
        assertEquals(pairCount, next.size(), "distinct numbers of queue pairs");
        int batch = 32;
        for (int start = 0; start < reads; start += batch) {
            int end = Math.min(reads, start + batch);
            for (int wrId = start; wrId < end; wrId++) {
                for (LoopbackPair pair : pairs) {
                    pair.requester().read(wrId, sink, source);
                }
            }
            for (Completion completion : shared.take((end - start) * pairCount, "READs on the shared queue")) {
                assertEquals(CompletionStatus.SUCCESS, completion.status());
                int expected = next.merge(completion.qpNumber(), 1, Integer::sum) - 1;
                assertEquals(expected, completion.wrId(), "order on queue pair " + completion.qpNumber());
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 59,
            title = "polling returns 0 from an empty queue, and never more than requested",
            source = "ibv_poll_cq(3)")
    void shouldGiveAtMostWhatWasAskedForWhenPolling(TwoNodes nodes) {
        int reads = 5;
        LoopbackPair pair = nodes.connect();
        CompletionQueue queue = pair.requester().sends().queue();
        WorkCompletion[] completions = WorkCompletion.array(8);
        assertEquals(0, queue.poll(completions));
        assertEquals(0, queue.poll(completions, 0));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (int i = 0; i < reads; i++) {
            pair.requester().read(i, sink, source);
        }
        int[] taken = {0};
        nodes.await("5 READs, polled two at a time", () -> {
            assertEquals(0, queue.poll(completions, 0));
            int count = queue.poll(completions, 2);
            assertTrue(count >= 0 && count <= 2, "poll of 2 gave " + count);
            for (int i = 0; i < count; i++) {
                assertEquals(taken[0] + i, completions[i].wrId());
                assertTrue(completions[i].isSuccess(), completions[i].toString());
            }
            taken[0] += count;
            return taken[0] == reads;
        });
        nodes.countOperations(reads);
        assertEquals(0, queue.poll(completions));
    }

    @Test
    @ConformanceCase(
            number = 60,
            title = "an overrun is reported once everything that fitted was taken, and moves the queue pairs to ERROR",
            source = "rdma-unit-test CqTest.CqOverflow; ibv_get_async_event(3) IBV_EVENT_CQ_ERR; IBTA 10.2.6.3")
    void shouldReportOverrunWhenQueueIsFull(TwoNodes nodes) {
        nodes.require(nodes.traits().has(Trait.REPORTS_QUEUE_OVERRUN), "the device does not report lost completions");
        CompletionReader tiny = nodes.requester().completions(1).allowLeftovers();
        int entries = tiny.queue().entries();
        int depth = entries + 8;
        nodes.require(
                depth <= nodes.requester().device().capabilities().maxSendWorkRequests(),
                "a send queue cannot fill a completion queue of " + entries);
        LoopbackPair other = nodes.connect();
        LoopbackPair pair = nodes.connect(new ConnectionSpec()
                .requesterLimits(QueuePairLimits.of(depth, 8))
                .requesterSends(tiny));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (int i = 0; i < entries + 1; i++) {
            pair.requester().read(i, sink, source);
        }
        nodes.await(
                "the queue pair of a full completion queue to go to ERROR",
                () -> pair.requester().queuePair().state() == QueuePairState.ERROR);
        WorkCompletion[] completions = WorkCompletion.array(entries + 8);
        List<Long> taken = new ArrayList<>();
        VerbsException overrun = assertThrows(VerbsException.class, () -> {
            for (int polls = 0; polls < entries + 8; polls++) {
                int count = tiny.queue().poll(completions);
                for (int i = 0; i < count; i++) {
                    taken.add(completions[i].wrId());
                }
            }
        });
        assertEquals(VerbsErrorCode.QUEUE_OVERRUN, overrun.code());
        assertTrue(taken.size() <= entries + 1 && !taken.isEmpty(), "taken before the overrun: " + taken);
        for (int i = 0; i < taken.size(); i++) {
            assertEquals(i, taken.get(i), "completions before the overrun: " + taken);
        }
        other.requester().read(77, sink, source);
        other.requester().sends().expect(77, CompletionOpcode.READ, BYTES);
    }

    @Test
    @ConformanceCase(
            number = 62,
            title = "a failed completion names its own request and queue pair, also in a reused object",
            source = "ibv_poll_cq(3): on error only wr_id, status, qp_num and vendor_err are valid")
    void shouldNameRequestAndQueuePairWhenARequestFails(TwoNodes nodes) {
        CompletionReader shared = nodes.requester().completions(256);
        LoopbackPair good = nodes.connect(new ConnectionSpec().requesterSends(shared));
        LoopbackPair bad = nodes.connect(new ConnectionSpec().requesterSends(shared));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        WorkCompletion[] reused = WorkCompletion.array(1);
        good.requester().read(0x1122334455667788L, sink, source);
        nodes.await("a READ", () -> shared.queue().poll(reused) == 1);
        assertEquals(0x1122334455667788L, reused[0].wrId());
        assertEquals(good.requester().queuePair().number(), reused[0].qpNumber());
        assertEquals(CompletionOpcode.READ, reused[0].opcode());
        bad.requester().read(-2, sink, 0, BYTES, source.address() + 1, source.rkey());
        nodes.await("a refused READ", () -> shared.queue().poll(reused) == 1);
        assertTrue(nodes.traits().readRefused().contains(reused[0].status()), reused[0].toString());
        assertEquals(-2, reused[0].wrId());
        assertEquals(bad.requester().queuePair().number(), reused[0].qpNumber());
        assertThrows(IllegalStateException.class, reused[0]::opcode);
        assertThrows(IllegalStateException.class, reused[0]::byteLength);
        bad.requester().awaitError();
        bad.responder().awaitError();
    }

    @Test
    @ConformanceCase(
            number = 63,
            title = "unpolled completions of a closed queue pair are gone, those of others stay",
            source = "QueuePair.close; ibv_destroy_qp(3)")
    void shouldRemoveCompletionsWhenTheirQueuePairIsClosed(TwoNodes nodes) {
        int reads = 16;
        CompletionChannel channel = nodes.requester().channel();
        CompletionReader shared = nodes.requester().completions(512, channel);
        LoopbackPair kept = nodes.connect(new ConnectionSpec().requesterSends(shared));
        LoopbackPair closed = nodes.connect(new ConnectionSpec().requesterSends(shared));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        shared.queue().requestNotification(false);
        for (int i = 0; i < reads; i++) {
            closed.requester().read(1000 + i, sink, source);
        }
        // The event shows that a completion is in the queue, without taking it.
        nodes.await("an event for the first READ", () -> channel.await(0).isPresent());
        shared.queue().acknowledgeEvents(1);
        for (int i = 0; i < reads; i++) {
            kept.requester().read(i, sink, source);
        }
        closed.requester().queuePair().close();
        for (int i = 0; i < reads; i++) {
            Completion completion = shared.next("READs of the queue pair that stays");
            assertEquals(kept.requester().queuePair().number(), completion.qpNumber(), completion.toString());
            assertEquals(i, completion.wrId());
        }
        nodes.linger(2_000_000);
        shared.expectNone("the other queue pair is closed");
    }

    @Test
    @ConformanceCase(
            number = 64,
            title = "eight threads poll one queue: every completion is taken exactly once",
            source = "ibv_poll_cq(3) is thread-safe; rdma-unit-test ThreadedTest")
    void shouldGiveEachCompletionOnceWhenManyThreadsPoll(TwoNodes nodes) {
        nodes.requireThreads();
        int reads = nodes.times(5000);
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.responder().region(8, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(8, AccessFlag.READ_SINK);
        AtomicIntegerArray seen = new AtomicIntegerArray(reads);
        AtomicInteger taken = new AtomicInteger();
        List<Task<Integer>> pollers = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            pollers.add(nodes.start("poll-" + thread, () -> {
                WorkCompletion[] completions = WorkCompletion.array(4);
                nodes.await("all READs to be polled", () -> {
                    int count = pair.requester().sends().queue().poll(completions);
                    for (int i = 0; i < count; i++) {
                        assertTrue(completions[i].isSuccess(), completions[i].toString());
                        seen.incrementAndGet((int) completions[i].wrId());
                    }
                    return taken.addAndGet(count) >= reads;
                });
                return 0;
            }));
        }
        for (int i = 0; i < reads; i++) {
            int wrId = i;
            nodes.await("room for READ " + wrId, () -> wrId - taken.get() < 100);
            pair.requester().read(wrId, sink, source);
        }
        pollers.forEach(Task::get);
        for (int i = 0; i < reads; i++) {
            assertEquals(1, seen.get(i), "times that completion " + i + " was taken");
        }
        assertEquals(reads, taken.get());
        nodes.countOperations(reads);
        Endpoint.require(
                pair.requester().queuePair().postRead(reads, sink, 0, 8, source.address(), source.rkey(), 2),
                "READ after the race");
        pair.requester().sends().expect(reads, Set.of(CompletionStatus.SUCCESS), "READ after the race");
    }
}
