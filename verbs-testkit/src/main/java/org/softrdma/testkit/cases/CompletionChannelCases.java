package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
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
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;

/** Events: one per arming, for the right queue, never lost; what prevents a channel or a queue from closing. */
@ExtendWith(TwoNodesExtension.class)
public final class CompletionChannelCases {
    private static final int BYTES = 64;
    private static final long QUIET_NS = 20_000_000;
    private static final int SEND_WINDOW = 64;

    /** Made by JUnit. */
    public CompletionChannelCases() {}

    /** A connection whose RECVs complete on a queue with a channel at the responder. */
    private static final class Receiving {
        final TwoNodes nodes;
        final CompletionChannel channel;
        final CompletionReader receives;
        final LoopbackPair pair;
        final MemoryRegion source;
        final MemoryRegion inbox;

        Receiving(TwoNodes nodes) {
            this.nodes = nodes;
            channel = nodes.responder().channel();
            receives = nodes.responder().completions(256, channel);
            pair = nodes.connect(new ConnectionSpec().responderReceives(receives));
            source = nodes.requester().region(BYTES);
            inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        }

        void send(int flags) {
            pair.responder().receive(1, inbox, 0, BYTES);
            Endpoint.require(
                    pair.requester().queuePair().postSend(2, source, 0, BYTES, SendFlags.SIGNALLED | flags), "SEND");
            pair.requester().sends().expect(2, CompletionOpcode.SEND, BYTES);
        }

        void expectMessage() {
            receives.expect(1, CompletionOpcode.RECEIVE, BYTES);
        }

        void expectEvent(String why) {
            Optional<CompletionQueue> event = channel.await(nodes.timeoutNs());
            assertTrue(event.isPresent(), "no event within the deadline: " + why);
            assertSame(receives.queue(), event.get());
            receives.queue().acknowledgeEvents(1);
        }

        /** An event without a cause may come, and takes the arming with it. */
        void expectNoEventAndStayArmed(boolean solicitedOnly, String why) {
            if (CompletionChannelCases.expectNoEvent(nodes, channel, why)) {
                receives.queue().requestNotification(solicitedOnly);
            }
        }
    }

    /** Waits on the requester's side, which must drive a device in manual progress. */
    private static Optional<CompletionQueue> await(TwoNodes nodes, CompletionChannel channel, long timeoutNs) {
        if (!nodes.requester().device().manualProgress()) {
            return channel.await(timeoutNs);
        }
        long start = nodes.nanoTime();
        Optional<CompletionQueue> event = channel.await(0);
        while (event.isEmpty() && nodes.nanoTime() - start < timeoutNs) {
            nodes.linger(QUIET_NS / 20);
            event = channel.await(0);
        }
        return event;
    }

    /** If events without a cause are lawful, only takes one; returns true if it has. */
    private static boolean expectNoEvent(TwoNodes nodes, CompletionChannel channel, String why) {
        Optional<CompletionQueue> event = await(nodes, channel, QUIET_NS);
        if (event.isPresent()) {
            event.get().acknowledgeEvents(1);
            assertTrue(nodes.traits().has(Trait.RAISES_SPURIOUS_EVENTS), "an event, although " + why);
        }
        return event.isPresent();
    }

    @Test
    @ConformanceCase(
            number = 65,
            title = "an armed queue raises one event, which names it; without arming again there is none",
            source = "rdma-unit-test CompChannelTest.RequestNotificationOnce, AcknowledgeWithoutCompletion; "
                    + "ibv_req_notify_cq(3)")
    void shouldRaiseOneEventWhenArmedOnce(TwoNodes nodes) {
        CompletionChannel channel = nodes.requester().channel();
        CompletionReader sends = nodes.requester().completions(256, channel);
        LoopbackPair pair = nodes.connect(new ConnectionSpec().requesterSends(sends));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        sends.queue().requestNotification(false);
        pair.requester().read(1, sink, source);
        Optional<CompletionQueue> event = await(nodes, channel, nodes.timeoutNs());
        assertTrue(event.isPresent(), "no event for a READ within the deadline");
        assertSame(sends.queue(), event.get());
        sends.queue().acknowledgeEvents(1);
        sends.expect(1, CompletionOpcode.READ, BYTES);
        pair.requester().read(2, sink, source);
        sends.expect(2, CompletionOpcode.READ, BYTES);
        boolean ignored = expectNoEvent(nodes, channel, "the queue is not armed");
    }

    @Test
    @ConformanceCase(
            number = 66,
            title = "a completion that is already in the queue raises no event when it is armed",
            source = "rdma-unit-test CompChannelTest.NoSpuriousEvents; ibv_req_notify_cq(3)")
    void shouldRaiseNoEventWhenCompletionsWereThereBefore(TwoNodes nodes) {
        Receiving receiving = new Receiving(nodes);
        receiving.receives.queue().requestNotification(false);
        receiving.send(SendFlags.NONE);
        receiving.expectEvent("armed before the message"); // Now the completion is certainly in the queue.
        receiving.receives.queue().requestNotification(false);
        receiving.expectNoEventAndStayArmed(false, "the queue was armed after its only completion had arrived");
        receiving.expectMessage();
        receiving.send(SendFlags.NONE);
        receiving.expectEvent("armed before the second message");
        receiving.expectMessage();
    }

    @Test
    @ConformanceCase(
            number = 67,
            title =
                    "armed for solicited completions: a plain message raises no event, a solicited one and a failure do",
            source = "rdma-unit-test CompChannelTest.RequestSolicitedOnly; ibv_req_notify_cq(3) solicited_only")
    void shouldRaiseEventOnlyForSolicitedOrFailedWhenArmedSo(TwoNodes nodes) {
        Receiving receiving = new Receiving(nodes);
        receiving.receives.queue().requestNotification(true);
        receiving.send(SendFlags.NONE);
        receiving.expectMessage();
        receiving.expectNoEventAndStayArmed(true, "the message was not solicited");
        receiving.send(SendFlags.SOLICITED);
        receiving.expectEvent("a solicited message");
        receiving.expectMessage();
        receiving.receives.queue().requestNotification(true);
        receiving.pair.responder().receive(3, receiving.inbox, 0, BYTES);
        receiving.pair.requester().queuePair().disconnect();
        receiving.expectEvent("a flushed RECV");
        receiving.receives.expect(3, Set.of(CompletionStatus.FLUSHED), "RECV at the disconnect");
    }

    @Test
    @ConformanceCase(
            number = 68,
            title = "armed for any and then for solicited, or the reverse: any completion raises the event",
            source = "rdma-unit-test CompChannelTest.DowngradeRequest, UpgradeRequest; IBTA 11.4.2.2")
    void shouldStayArmedForAnyWhenArmedTwice(TwoNodes nodes) {
        Receiving receiving = new Receiving(nodes);
        receiving.receives.queue().requestNotification(false);
        receiving.receives.queue().requestNotification(true);
        receiving.send(SendFlags.NONE);
        receiving.expectEvent("armed for any, then for solicited");
        receiving.expectMessage();
        receiving.receives.queue().requestNotification(true);
        receiving.receives.queue().requestNotification(false);
        receiving.send(SendFlags.NONE);
        receiving.expectEvent("armed for solicited, then for any");
        receiving.expectMessage();
        receiving.send(SendFlags.SOLICITED);
        receiving.expectMessage();
        boolean ignored = expectNoEvent(nodes, receiving.channel, "arming twice raises one event");
    }

    @Test
    @ConformanceCase(
            number = 69,
            title = "twenty queues on one channel: each event names its queue",
            source = "rdma-unit-test CompChannelTest.MuxOntoSingleChannel; ibv_get_cq_event(3)")
    void shouldNameTheQueueWhenManyShareAChannel(TwoNodes nodes) {
        CompletionChannel channel = nodes.requester().channel();
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        List<LoopbackPair> pairs = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            CompletionReader sends = nodes.requester().completions(256, channel);
            pairs.add(nodes.connect(new ConnectionSpec().requesterSends(sends)));
        }
        for (LoopbackPair pair : pairs) {
            pair.requester().sends().queue().requestNotification(false);
        }
        Set<CompletionQueue> expected = new HashSet<>();
        for (int i = 0; i < pairs.size(); i += 2) {
            pairs.get(i).requester().read(i, sink, source);
            expected.add(pairs.get(i).requester().sends().queue());
        }
        while (!expected.isEmpty()) {
            Optional<CompletionQueue> event = await(nodes, channel, nodes.timeoutNs());
            assertTrue(event.isPresent(), expected.size() + " events missing");
            assertTrue(
                    expected.remove(event.get()) || nodes.traits().has(Trait.RAISES_SPURIOUS_EVENTS),
                    "event of a queue without completion, or a second one");
            event.get().acknowledgeEvents(1);
        }
        boolean ignored = expectNoEvent(nodes, channel, "the other queues are idle");
        for (int i = 0; i < pairs.size(); i += 2) {
            pairs.get(i).requester().sends().expect(i, CompletionOpcode.READ, BYTES);
        }
    }

    @Test
    @ConformanceCase(
            number = 70,
            title = "a queue with an event that was not acknowledged refuses to close",
            source = "rdma-unit-test CompChannelTest.DeleteWithUnacked; ibv_get_cq_event(3)")
    void shouldRefuseToCloseQueueWhenAnEventIsNotAcknowledged(TwoNodes nodes) {
        Receiving receiving = new Receiving(nodes);
        receiving.receives.queue().requestNotification(false);
        receiving.send(SendFlags.NONE);
        assertTrue(receiving.channel.await(nodes.timeoutNs()).isPresent(), "no event within the deadline");
        receiving.expectMessage();
        receiving.pair.responder().queuePair().close();
        Refusals.expectBusy(receiving.receives.queue()::close, "closing a queue with an event not acknowledged");
        CompletionQueue queue = receiving.receives.queue();
        assertThrows(IllegalArgumentException.class, () -> queue.acknowledgeEvents(2));
        queue.acknowledgeEvents(1);
        assertThrows(IllegalArgumentException.class, () -> queue.acknowledgeEvents(1));
        receiving.receives.close();
    }

    @Test
    @ConformanceCase(
            number = 71,
            title = "a channel with a queue refuses to close; a queue without channel cannot be armed",
            source = "rdma-unit-test CompChannelTest.DeleteWithAttachedCqs, RequestNotificationOnCqWithoutChannel")
    void shouldRefuseToCloseChannelWhenAQueueUsesIt(TwoNodes nodes) {
        CompletionChannel channel = nodes.requester().channel();
        CompletionReader attached = nodes.requester().completions(4, channel);
        Refusals.expectBusy(channel::close, "closing a channel with a queue");
        attached.close();
        channel.close();
        channel.close();
        CompletionQueue without = nodes.requester().completions(4).queue();
        assertThrows(IllegalStateException.class, () -> without.requestNotification(false));
    }

    @Test
    @ConformanceCase(
            number = 72,
            title = "waiting ends at its timeout, and at an interrupt, which loses no event",
            source = "ibv_get_cq_event(3): poll(2) with a timeout; CompletionChannel.await")
    void shouldLoseNoEventWhenWaitingIsInterrupted(TwoNodes nodes) {
        CompletionChannel channel = nodes.requester().channel();
        CompletionReader sends = nodes.requester().completions(256, channel);
        LoopbackPair pair = nodes.connect(new ConnectionSpec().requesterSends(sends));
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        long start = nodes.nanoTime();
        assertEquals(Optional.empty(), channel.await(QUIET_NS));
        assertTrue(nodes.nanoTime() - start >= QUIET_NS / 2, "await ended before its timeout");
        Thread waiter = Thread.currentThread();
        boolean flagStayed;
        try {
            Task<Integer> interrupter = nodes.start("interrupt", () -> {
                nodes.sleep(QUIET_NS);
                waiter.interrupt();
                return 0;
            });
            Refusals.expectCode(
                    VerbsErrorCode.INTERRUPTED, () -> channel.await(nodes.timeoutNs()), "await, interrupted");
            flagStayed = Thread.interrupted();
            interrupter.get();
        } finally {
            Thread.interrupted();
        }
        assertTrue(flagStayed, "the interrupt flag stays set");
        sends.queue().requestNotification(false);
        pair.requester().read(1, sink, source);
        Optional<CompletionQueue> event = await(nodes, channel, nodes.timeoutNs());
        assertTrue(event.isPresent(), "no event after an interrupted await");
        sends.queue().acknowledgeEvents(1);
        sends.expect(1, CompletionOpcode.READ, BYTES);
    }

    @Test
    @ConformanceCase(
            number = 240,
            title = "the loop of arming, draining and waiting never misses a message",
            source = "ibv_get_cq_event(3) example; ibv_req_notify_cq(3)")
    void shouldNeverHangWhenArmedThenDrainedThenAwaited(TwoNodes nodes) {
        int messages = nodes.times(5000);
        Receiving receiving = new Receiving(nodes);
        for (int i = 0; i < SEND_WINDOW; i++) {
            receiving.pair.responder().receive(1, receiving.inbox, 0, BYTES);
        }
        AtomicInteger received = new AtomicInteger();
        AtomicInteger waits = new AtomicInteger();
        Task<Integer> consumer = nodes.start("consume", () -> {
            while (received.get() < messages) {
                receiving.receives.queue().requestNotification(false);
                int count = receiving.receives.drain().size();
                for (int i = 0; i < count; i++) {
                    receiving.pair.responder().receive(1, receiving.inbox, 0, BYTES);
                }
                if (received.addAndGet(count) < messages && count == 0) {
                    waits.incrementAndGet();
                    Optional<CompletionQueue> event = receiving.channel.await(nodes.timeoutNs());
                    assertFalse(
                            event.isEmpty(), "hung with " + received.get() + " of " + messages + " messages received");
                    receiving.receives.queue().acknowledgeEvents(1);
                }
            }
            return 0;
        });
        for (int i = 0; i < messages && !consumer.isDone(); i++) {
            int number = i;
            nodes.await("the consumer", () -> consumer.isDone() || number - received.get() < SEND_WINDOW);
            receiving.pair.requester().send(2, receiving.source, 0, BYTES);
            receiving.pair.requester().sends().expect(2, CompletionOpcode.SEND, BYTES);
            nodes.spin(nodes.random().nextInt(200));
        }
        consumer.get();
        assertEquals(messages, received.get());
        assertTrue(waits.get() > 0, "the consumer never waited");
        receiving.pair.responder().queuePair().close();
        while (receiving.channel.await(0).isPresent()) {
            receiving.receives.queue().acknowledgeEvents(1);
        }
    }
}
