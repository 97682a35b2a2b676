package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent.Kind;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/** Events of a device: which are told, of which object, once, and how long one waits for them. */
@ExtendWith(TwoNodesExtension.class)
public final class EventCases {
    private static final int BYTES = 64;
    private static final long SHORT_NS = 50_000_000;

    /** Made by JUnit. */
    public EventCases() {}

    private static void expectAccessError(TwoNodes nodes, LoopbackPair pair, Events events) {
        MemoryRegion source = nodes.requester().region(BYTES);
        MemoryRegion readOnly = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        pair.requester().write(1, source, readOnly);
        pair.requester().sends().expect(1, nodes.traits().writeRefused(), "WRITE without REMOTE_WRITE");
        pair.expectBothBroken();
        events.expect(new QueuePairEvent(pair.responder().queuePair(), Kind.ACCESS_ERROR));
    }

    @Test
    @ConformanceCase(
            number = 384,
            title = "a peer's access that is refused is told once, of its queue pair",
            source = "rdma-unit-test AsyncEventTest.QpAccessErr; ibv_get_async_event(3) IBV_EVENT_QP_ACCESS_ERR")
    void shouldTellARefusedAccess(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        Events events = new Events(nodes, nodes.responder());
        LoopbackPair other = nodes.connect();
        LoopbackPair pair = nodes.connect();
        expectAccessError(nodes, pair, events);
        events.expectNo(new QueuePairEvent(pair.responder().queuePair(), Kind.ACCESS_ERROR), "it has been told");
        events.expectNo(new QueuePairEvent(other.responder().queuePair(), Kind.ACCESS_ERROR), "it goes on");
        other.barrier();
    }

    @Test
    @ConformanceCase(
            number = 385,
            title = "a misaligned atomic is told as a request error",
            source = "rdma-unit-test AsyncEventTest.QpRequestErr; ibv_get_async_event(3) IBV_EVENT_QP_REQ_ERR")
    void shouldTellAWrongRequest(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        FeatureGate.require(nodes, Feature.ATOMICS);
        Events events = new Events(nodes, nodes.responder());
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
        MemoryRegion result = nodes.requester().region(Long.BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().fetchAndAdd(1, result, 0, target.address() + 1, target.rkey(), 1);
        pair.requester().sends().expect(1, nodes.traits().features().misalignedAtomic(), "misaligned atomic");
        pair.expectBothBroken();
        events.expect(new QueuePairEvent(pair.responder().queuePair(), Kind.REQUEST_ERROR));
        events.expectNo(new QueuePairEvent(pair.responder().queuePair(), Kind.ACCESS_ERROR), "the key was right");
    }

    /** Messages for RECVs whose completion queue holds fewer of them. The thread of the case drives the requester. */
    private static LoopbackPair overrun(TwoNodes nodes, CompletionReader tiny) {
        int messages = tiny.queue().entries() + 1;
        nodes.require(
                messages <= nodes.requester().device().capabilities().maxSendWorkRequests(),
                "a send queue cannot fill a completion queue of " + tiny.queue().entries());
        LoopbackPair pair = nodes.connect(new ConnectionSpec()
                .limits(QueuePairLimits.of(messages, messages))
                .responderReceives(tiny));
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion source = nodes.requester().region(BYTES);
        pair.requester().sends().allowLeftovers();
        for (int i = 0; i < messages; i++) {
            pair.responder().receive(i, inbox, 0, BYTES);
        }
        for (int i = 0; i < messages; i++) {
            pair.requester().send(i, source, 0, BYTES);
        }
        nodes.await(
                "the queue pair of a full completion queue to go to ERROR",
                () -> pair.responder().queuePair().state() == QueuePairState.ERROR);
        return pair;
    }

    private static CompletionReader tinyQueue(TwoNodes nodes) {
        nodes.require(nodes.traits().has(Trait.REPORTS_QUEUE_OVERRUN), "the device does not report lost completions");
        return nodes.responder().completions(1).allowLeftovers();
    }

    @Test
    @ConformanceCase(
            number = 386,
            title = "an overrun of a completion queue is told, of that queue",
            source = "rdma-unit-test AsyncEventTest, CqTest.CqOverflow; ibv_get_async_event(3) IBV_EVENT_CQ_ERR")
    void shouldTellAnOverrun(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        CompletionReader tiny = tinyQueue(nodes);
        Events events = new Events(nodes, nodes.responder());
        LoopbackPair other = nodes.connect();
        overrun(nodes, tiny);
        events.expect(new CompletionQueueEvent(tiny.queue()));
        events.expectNo(new CompletionQueueEvent(other.responder().receives().queue()), "it has room");
        other.barrier();
    }

    @Test
    @ConformanceCase(
            number = 387,
            title = "an event of an object that was closed before it was taken is dropped",
            source = "VerbsDevice.awaitEvent; ibv_destroy_cq(3) waits for events to be acknowledged")
    void shouldDropEventsOfClosedObjects(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        CompletionReader tiny = tinyQueue(nodes);
        Events events = new Events(nodes, nodes.responder());
        LoopbackPair pair = overrun(nodes, tiny);
        pair.responder().queuePair().close();
        tiny.close();
        events.expectNo(new CompletionQueueEvent(tiny.queue()), "the queue was closed");
        CompletionReader next = tinyQueue(nodes);
        overrun(nodes, next);
        events.expect(new CompletionQueueEvent(next.queue()));
    }

    @Test
    @ConformanceCase(
            number = 388,
            title = "waiting for an event ends in time, or at an interrupt that stays set, and no event is lost",
            source = "VerbsDevice.awaitEvent; ibv_get_async_event(3)")
    void shouldEndTheWaitInTime(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        VerbsDevice device = nodes.responder().device();
        Events events = new Events(nodes, nodes.responder());
        long start = nodes.nanoTime();
        assertEquals(Optional.empty(), device.awaitEvent(SHORT_NS), "nothing has happened");
        assertTrue(nodes.nanoTime() - start >= SHORT_NS, "the wait ended early");
        CompletionReader tiny = tinyQueue(nodes);
        Task<Boolean> waiting = nodes.start("interrupted", () -> {
            Thread.currentThread().interrupt();
            VerbsException interrupted = assertThrows(VerbsException.class, () -> device.awaitEvent(nodes.timeoutNs()));
            assertEquals(VerbsErrorCode.INTERRUPTED, interrupted.code(), interrupted.getMessage());
            return Thread.interrupted();
        });
        assertTrue(waiting.get(), "the interrupted flag stays set");
        overrun(nodes, tiny);
        events.expect(new CompletionQueueEvent(tiny.queue()));
    }
}
