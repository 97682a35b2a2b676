package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Shared receive queues: who gets which RECV, what a failed queue pair leaves to the others, and the limit. */
@ExtendWith(TwoNodesExtension.class)
public final class SharedReceiveCases {
    private static final int SLOT = Long.BYTES;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final long WAIT_NS = 20_000_000;

    /** Made by JUnit. */
    public SharedReceiveCases() {}

    /** A shared queue of the responder, with connections that use it and one completion queue for all its RECVs. */
    private static final class Sharing {
        private final TwoNodes nodes;
        private final SharedReceiveQueue queue;
        private final MemoryRegion inbox;
        private final MemoryRegion messages;
        private final CompletionReader receives;
        private final List<LoopbackPair> pairs = new ArrayList<>();
        private final Map<Integer, Integer> pairsByNumber = new HashMap<>();
        private final AtomicInteger posted = new AtomicInteger();
        private final AtomicBoolean stop = new AtomicBoolean();
        private int sent;

        Sharing(TwoNodes nodes, ProtectionDomain domain, int slots, int pairCount) {
            this.nodes = nodes;
            Node node = nodes.responder();
            queue = nodes.own(domain.createSharedReceiveQueue(slots, 1));
            inbox = node.register(domain, node.memory((long) slots * SLOT), AccessFlag.RECEIVE_SINK);
            messages = nodes.requester().region((long) slots * SLOT);
            receives = node.completions(slots + 2 * pairCount + 2);
            for (int i = 0; i < pairCount; i++) {
                LoopbackPair pair = connect();
                pairsByNumber.put(pair.responder().queuePair().number(), i);
            }
        }

        static Sharing of(TwoNodes nodes, int slots, int pairCount) {
            return new Sharing(nodes, nodes.responder().domain(), slots, pairCount);
        }

        LoopbackPair connect() {
            LoopbackPair pair =
                    nodes.connect(new ConnectionSpec().responderShared(queue).responderReceives(receives));
            pairs.add(pair);
            return pair;
        }

        void post(int slot) {
            Endpoint.require(queue.postReceive(slot, inbox, (long) slot * SLOT, SLOT), "shared RECV " + slot);
        }

        void postAll(int slots) {
            for (int slot = 0; slot < slots; slot++) {
                post(slot);
            }
        }

        /** Sends by one of the pairs and waits until the SEND is done. The message says which it is. */
        int send(int pair) {
            int number = sent++;
            long offset = number % (messages.length() / SLOT) * SLOT;
            messages.memory().set(ValueLayout.JAVA_LONG, offset, (long) pair << Integer.SIZE | number);
            pairs.get(pair).requester().send(number, messages, offset, SLOT);
            pairs.get(pair).requester().sends().expect(number, CompletionOpcode.SEND, SLOT);
            return number;
        }

        /** Takes a message, checks that its completion names the pair that has sent it, and returns the RECV's slot. */
        int take(int pair, int number) {
            Completion completion = receives.next("message " + number);
            assertEquals(CompletionStatus.SUCCESS, completion.status(), completion::toString);
            assertEquals(CompletionOpcode.RECEIVE, completion.opcode(), completion::toString);
            assertEquals(SLOT, completion.byteLength(), completion::toString);
            assertEquals(pairs.get(pair).responder().queuePair().number(), completion.qpNumber(), completion::toString);
            int slot = (int) completion.wrId();
            assertEquals((long) pair << Integer.SIZE | number, message(slot), "the message in slot " + slot);
            return slot;
        }

        int sendAndTake(int pair) {
            return take(pair, send(pair));
        }

        long message(int slot) {
            return inbox.memory().getAtIndex(ValueLayout.JAVA_LONG, slot);
        }
    }

    @Test
    @ConformanceCase(
            number = 137,
            title = "ten queue pairs share RECVs: each message comes once, named by its queue pair, in its order",
            source = "rdma-unit-test SrqTest.SharedRecv, SendRecv, MaxWr; ibv_create_srq(3), ibv_post_srq_recv(3)")
    void shouldServeEveryQueuePairFromOneQueue(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        int pairs = 10;
        int each = 8;
        Sharing sharing = Sharing.of(nodes, pairs * each, pairs);
        assertTrue(sharing.queue.maxWorkRequests() >= pairs * each, "capacity " + sharing.queue.maxWorkRequests());
        assertTrue(sharing.queue.maxScatterGather() >= 1, "entries " + sharing.queue.maxScatterGather());
        assertSame(nodes.responder().domain(), sharing.queue.protectionDomain());
        sharing.postAll(pairs * each);
        QueuePair one = sharing.pairs.getFirst().responder().queuePair();
        assertThrows(IllegalStateException.class, () -> one.postReceive(1, sharing.inbox, 0, SLOT));
        assertThrows(
                IllegalStateException.class,
                () -> one.post(new ReceiveWorkRequest().receive(1).add(sharing.inbox, 0, SLOT)));
        for (int i = 0; i < pairs * each; i++) {
            sharing.send(i % pairs);
        }
        int[] next = new int[pairs];
        BitSet slots = new BitSet();
        for (Completion completion : sharing.receives.take(pairs * each, "shared RECVs")) {
            assertEquals(CompletionStatus.SUCCESS, completion.status(), completion::toString);
            int pair = Objects.requireNonNull(
                    sharing.pairsByNumber.get(completion.qpNumber()), "a queue pair of nobody: " + completion);
            int slot = (int) completion.wrId();
            assertFalse(slots.get(slot), "RECV " + slot + " completed twice");
            slots.set(slot);
            long expected = (long) pair << Integer.SIZE | (next[pair]++ * pairs + pair);
            assertEquals(expected, sharing.message(slot), "message of queue pair " + pair);
        }
    }

    @Test
    @ConformanceCase(
            number = 372,
            title = "a shared queue takes as many RECVs as it says, refuses bad sizes, and lives as long as its users",
            source =
                    "rdma-unit-test SrqTest.ZeroWR, ExceedsMaxWrs, PostRecvToFullQueue, DestroyWithQp; ibv_create_srq(3)")
    void shouldHoldWhatItSays(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        ProtectionDomain domain = nodes.responder().otherDomain();
        int most = nodes.responder().device().capabilities().maxSharedReceiveWorkRequests();
        int entries = nodes.responder().device().capabilities().maxScatterGather();
        for (int count : new int[] {0, -1, most + 1}) {
            assertThrows(IllegalArgumentException.class, () -> domain.createSharedReceiveQueue(count, 1), count + "");
        }
        for (int count : new int[] {0, -1, entries + 1}) {
            assertThrows(IllegalArgumentException.class, () -> domain.createSharedReceiveQueue(1, count), count + "");
        }
        domain.close(); // Would be refused if a queue had been created.
        Sharing sharing = Sharing.of(nodes, 5, 1);
        int room = sharing.queue.maxWorkRequests();
        MemoryRegion inbox = nodes.responder().region((long) room * SLOT, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < room; i++) {
            Endpoint.require(sharing.queue.postReceive(i, inbox, (long) i * SLOT, SLOT), "RECV " + i);
        }
        assertEquals(PostStatus.QUEUE_FULL, sharing.queue.postReceive(room, inbox, 0, SLOT));
        ReceiveWorkRequest tooMany = new ReceiveWorkRequest().receive(1);
        for (int i = 0; i <= sharing.queue.maxScatterGather(); i++) {
            tooMany.add(inbox, 0, 0);
        }
        assertThrows(IllegalArgumentException.class, () -> sharing.queue.post(tooMany));
        sharing.send(0);
        sharing.receives.next("a message for a full queue");
        Endpoint.require(sharing.queue.postReceive(room, inbox, 0, SLOT), "a RECV where one was taken");
        Refusals.expectBusy(sharing.queue::close, "closing a shared queue with a queue pair");
        sharing.pairs.getFirst().responder().queuePair().close();
        sharing.queue.close();
        sharing.queue.close();
        assertThrows(IllegalStateException.class, () -> sharing.queue.postReceive(1, inbox, 0, SLOT));
    }

    private static SharedReceiveQueueEvent limitOf(Sharing sharing) {
        return new SharedReceiveQueueEvent(sharing.queue, SharedReceiveQueueEvent.Kind.LIMIT_REACHED);
    }

    @Test
    @ConformanceCase(
            number = 138,
            title = "the limit is told once, when fewer RECVs than it are left, and again when it is set again",
            source =
                    "rdma-unit-test SrqTest.SrqLimit; ibv_modify_srq(3), ibv_get_async_event(3) IBV_EVENT_SRQ_LIMIT_REACHED")
    void shouldTellTheLimitOnce(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        int limit = 4;
        int above = 4;
        Sharing sharing = Sharing.of(nodes, limit + above, 2);
        Events events = new Events(nodes, nodes.responder());
        SharedReceiveQueueEvent told = limitOf(sharing);
        for (int round = 0; round < 2; round++) {
            sharing.postAll(limit + above);
            sharing.queue.arm(limit);
            for (int i = 0; i < above; i++) {
                sharing.sendAndTake(i % 2);
            }
            events.expectNo(told, "as many RECVs as the limit are left");
            sharing.sendAndTake(0);
            events.expect(told);
            for (int i = 1; i < limit; i++) {
                sharing.sendAndTake(i % 2);
            }
            events.expectNo(told, "it has been told");
        }
    }

    @Test
    @ConformanceCase(
            number = 373,
            title = "a limit above what is left is told at once",
            source = "SharedReceiveQueue.arm; IBTA 10.2.9.1 (the limit is compared when it is set)")
    void shouldTellTheLimitAtOnceWhenFewerAreLeft(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        Sharing sharing = Sharing.of(nodes, 4, 1);
        Events events = new Events(nodes, nodes.responder());
        sharing.postAll(2);
        sharing.queue.arm(3);
        events.expect(limitOf(sharing));
        sharing.sendAndTake(0);
        events.expectNo(limitOf(sharing), "it has been told");
    }

    @Test
    @ConformanceCase(
            number = 374,
            title = "a limit of 0 tells nothing, and one out of range is refused",
            source = "SharedReceiveQueue.arm; ibv_modify_srq(3) EINVAL")
    void shouldTellNothingWhenTheLimitIsTakenBack(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        Sharing sharing = Sharing.of(nodes, 4, 1);
        if (!nodes.responder().device().capabilities().has(Feature.ASYNC_EVENTS)) {
            VerbsException refused = assertThrows(VerbsException.class, () -> sharing.queue.arm(1));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code(), refused.getMessage());
            return;
        }
        for (int limit : new int[] {-1, sharing.queue.maxWorkRequests() + 1}) {
            assertThrows(IllegalArgumentException.class, () -> sharing.queue.arm(limit), "limit " + limit);
        }
        Events events = new Events(nodes, nodes.responder());
        sharing.postAll(4);
        sharing.queue.arm(3);
        sharing.queue.arm(0);
        for (int i = 0; i < 4; i++) {
            sharing.sendAndTake(0);
        }
        events.expectNo(limitOf(sharing), "the limit was taken back");
    }

    @Test
    @ConformanceCase(
            number = 139,
            title = "a queue pair that goes to ERROR leaves its shared RECVs to the others, and gets none flushed",
            source =
                    "rdma-unit-test SrqTest.QpFlush; IBTA 10.3.1 (ERROR with a shared receive queue); ibv_create_srq(3)")
    void shouldLeaveReceivesToOthersWhenOneQueuePairFails(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        int pairs = 10;
        int slots = 40;
        Sharing sharing = Sharing.of(nodes, slots, pairs);
        sharing.postAll(slots);
        BitSet used = new BitSet();
        for (int i = 0; i < pairs; i++) {
            used.set(sharing.sendAndTake(i));
        }
        LoopbackPair failed = sharing.pairs.getFirst();
        MemoryRegion source = nodes.requester().region(SLOT);
        failed.requester().write(1, source, 0, SLOT, 0, BAD_KEY);
        failed.requester().sends().expect(1, nodes.traits().writeRefused(), "WRITE by a bad key");
        failed.expectBothBroken();
        assertThrows(
                IllegalStateException.class,
                () -> failed.responder().queuePair().postReceive(1, sharing.inbox, 0, SLOT));
        sharing.pairs.get(1).responder().queuePair().disconnect();
        sharing.pairs.get(1).expectBothBroken();
        sharing.receives.expectNone("RECVs of a shared queue are not flushed");
        for (int i = pairs; i < slots; i++) {
            int slot = sharing.sendAndTake(2 + i % (pairs - 2));
            assertFalse(used.get(slot), "RECV " + slot + " was consumed twice");
            used.set(slot);
        }
        assertEquals(slots, used.cardinality(), "RECVs consumed");
        assertEquals(
                QueuePairState.READY_TO_SEND,
                sharing.pairs.get(2).responder().queuePair().state());
    }

    @Test
    @ConformanceCase(
            number = 375,
            title = "the regions of shared RECVs are those of the shared queue's domain, not of the queue pair's",
            source = "rdma-unit-test PdSrqTest.SrqRecvMrSrqMatch, SrqRecvMrSrqMismatch; ibv_create_srq(3)")
    void shouldTakeRegionsOfItsOwnDomain(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        Sharing sharing = new Sharing(nodes, nodes.responder().otherDomain(), 4, 2);
        sharing.post(0);
        sharing.sendAndTake(0);
        MemoryRegion ofQueuePair = nodes.responder().region(SLOT, AccessFlag.RECEIVE_SINK);
        ofQueuePair.memory().fill(BytePattern.POISON);
        Endpoint.require(sharing.queue.postReceive(1, ofQueuePair, 0, SLOT), "RECV");
        LoopbackPair pair = sharing.pairs.getFirst();
        pair.requester().send(9, sharing.messages, 0, SLOT);
        sharing.receives.expect(1, nodes.traits().badReceiveSink(), "RECV into a region of the queue pair's domain");
        pair.requester().sends().expect(9, nodes.traits().sendFailedAtPeer(), "SEND to it");
        pair.expectBothBroken();
        BytePattern.requireAll(ofQueuePair.memory(), BytePattern.POISON, "buffer of the failed RECV");
        sharing.post(2);
        sharing.sendAndTake(1);
    }

    @Test
    @ConformanceCase(
            number = 376,
            title = "a queue pair in ERROR tells when it has taken its last RECV from the shared queue",
            source = "rdma-unit-test QpTest.LastWqeReached; ibv_get_async_event(3) IBV_EVENT_QP_LAST_WQE_REACHED")
    void shouldTellWhenTheLastReceiveIsTaken(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        FeatureGate.require(nodes, Feature.ASYNC_EVENTS);
        Sharing sharing = Sharing.of(nodes, 8, 2);
        sharing.postAll(8);
        Events events = new Events(nodes, nodes.responder());
        sharing.sendAndTake(0);
        QueuePair failed = sharing.pairs.getFirst().responder().queuePair();
        QueuePair other = sharing.pairs.get(1).responder().queuePair();
        sharing.pairs.getFirst().requester().queuePair().disconnect();
        sharing.pairs.getFirst().expectBothBroken();
        events.expect(new QueuePairEvent(failed, QueuePairEvent.Kind.LAST_REQUEST_REACHED));
        sharing.sendAndTake(1);
        events.expectNo(new QueuePairEvent(other, QueuePairEvent.Kind.LAST_REQUEST_REACHED), "the other goes on");
    }

    @Test
    @ConformanceCase(
            number = 377,
            title = "a message that finds the shared queue empty waits or ends its own connection; the others go on",
            source = "rdma-unit-test SrqTest.RnrOnEmpty; RFC 5041 section 7.2 (no buffer); ibv_modify_qp(3) rnr_retry")
    void shouldAffectOneConnectionWhenTheQueueIsEmpty(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        Sharing sharing = Sharing.of(nodes, 4, 2);
        Endpoint hungry = sharing.pairs.getFirst().requester();
        hungry.send(7, sharing.messages, 0, SLOT);
        if (nodes.traits().has(Trait.RECEIVER_NOT_READY)) {
            nodes.linger(WAIT_NS);
            hungry.sends().expectNone("there is no RECV yet");
            sharing.post(0);
            hungry.sends().expect(7, CompletionOpcode.SEND, SLOT);
            sharing.receives.expect(0, CompletionOpcode.RECEIVE, SLOT);
        } else {
            hungry.sends().expect(7, nodes.traits().sendRefused(), "a SEND that finds no RECV");
            sharing.pairs.getFirst().expectBothBroken();
        }
        sharing.post(1);
        assertEquals(1, sharing.sendAndTake(1), "the slot of the only RECV");
    }

    @Test
    @ConformanceCase(
            number = 378,
            title = "threads refill the shared queue while messages arrive: every RECV is consumed once",
            source = "SharedReceiveQueue (thread-safe); ibv_post_srq_recv(3)")
    void shouldConsumeEachReceiveOnceWhenThreadsRefill(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SHARED_RECEIVE_QUEUES);
        int threads = 4;
        int slots = 32;
        int pairs = 4;
        int messages = nodes.times(1000);
        Sharing sharing = Sharing.of(nodes, slots, pairs);
        int perThread = messages / threads + slots;
        List<Task<Integer>> refilling = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int first = thread * perThread;
            refilling.add(nodes.start("refill-" + thread, () -> refill(nodes, sharing, first, perThread)));
        }
        BitSet consumed = new BitSet();
        for (int i = 0; i < messages; i++) {
            if (!nodes.traits().has(Trait.RECEIVER_NOT_READY)) {
                int soFar = i;
                nodes.await("a RECV to be posted", () -> sharing.posted.get() > soFar);
            }
            int number = sharing.send(i % pairs);
            Completion completion = sharing.receives.next("message " + number);
            assertEquals(CompletionStatus.SUCCESS, completion.status(), completion::toString);
            int wrId = (int) completion.wrId();
            assertFalse(consumed.get(wrId), "RECV " + wrId + " was consumed twice");
            consumed.set(wrId);
        }
        sharing.stop.set(true);
        refilling.forEach(Task::get);
        assertEquals(messages, consumed.cardinality());
    }

    private static int refill(TwoNodes nodes, Sharing sharing, int first, int count) {
        for (int i = 0; i < count; i++) {
            int wrId = first + i;
            long offset = wrId % (sharing.inbox.length() / SLOT) * SLOT;
            nodes.await("room in the shared queue", () -> {
                if (sharing.stop.get()) {
                    return true;
                }
                boolean taken = sharing.queue.postReceive(wrId, sharing.inbox, offset, SLOT) == PostStatus.ACCEPTED;
                if (taken) {
                    sharing.posted.incrementAndGet();
                }
                return taken;
            });
        }
        return count;
    }
}
