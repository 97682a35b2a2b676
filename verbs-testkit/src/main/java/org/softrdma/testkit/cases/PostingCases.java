package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/** Posting: full queues, lists that stop at the first bad entry, signalling, inline data, and what is copied when. */
@ExtendWith(TwoNodesExtension.class)
public final class PostingCases {
    private static final int BYTES = 64;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final int SMALL_DEPTH = 16;

    /** Made by JUnit. */
    public PostingCases() {}

    /** A connection with memory on both sides. */
    private static final class Fixture {
        final LoopbackPair pair;
        final QueuePair queuePair;
        final int depth;
        final MemoryRegion local;
        final MemoryRegion remote;

        Fixture(TwoNodes nodes, ConnectionSpec spec) {
            pair = nodes.connect(spec);
            queuePair = pair.requester().queuePair();
            depth = queuePair.limits().maxSendWorkRequests();
            local = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
            remote = nodes.responder()
                    .region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        }

        static Fixture small(TwoNodes nodes) {
            return new Fixture(
                    nodes, new ConnectionSpec().requesterLimits(QueuePairLimits.of(SMALL_DEPTH, SMALL_DEPTH)));
        }

        PostStatus read(long wrId, int flags) {
            return queuePair.postRead(wrId, local, 0, BYTES, remote.address(), remote.rkey(), flags);
        }

        void expectReads(int from, int to) {
            for (int i = from; i < to; i++) {
                pair.requester().sends().expect(i, CompletionOpcode.READ, BYTES);
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 94,
            title = "a list longer than the queue is accepted up to the first entry that does not fit",
            source = "rdma-unit-test QpPostTest.OverflowSendWr; ibv_post_send(3) bad_wr, ENOMEM")
    void shouldAcceptWhatFitsWhenAListIsTooLong(TwoNodes nodes) {
        Fixture fixture = Fixture.small(nodes);
        SendWorkRequestList list = new SendWorkRequestList(fixture.depth + 3);
        for (int i = 0; i < fixture.depth + 3; i++) {
            list.next()
                    .read(i, fixture.remote.address(), fixture.remote.rkey(), SendFlags.SIGNALLED)
                    .add(fixture.local, 0, BYTES);
        }
        assertEquals(PostStatus.QUEUE_FULL, fixture.queuePair.post(list));
        assertEquals(fixture.depth, list.accepted());
        assertEquals(PostStatus.QUEUE_FULL, fixture.read(99, SendFlags.SIGNALLED));
        fixture.expectReads(0, fixture.depth);
        assertEquals(PostStatus.ACCEPTED, fixture.read(100, SendFlags.SIGNALLED));
        fixture.expectReads(100, 101);
    }

    @Test
    @ConformanceCase(
            number = 95,
            title = "a list stops at an entry that can never be posted: those before it run, those behind it do not",
            source = "ibv_post_send(3): processing stops at the first failing request, bad_wr, EINVAL")
    void shouldStopAtTheBadEntryWhenAListHasOne(TwoNodes nodes) {
        Fixture fixture = Fixture.small(nodes);
        int tooMany = fixture.queuePair.limits().maxSendScatterGather() + 1;
        SendWorkRequestList list = new SendWorkRequestList(5);
        for (int i = 0; i < 5; i++) {
            SendWorkRequest request = list.next()
                    .write(i, fixture.remote.address(), fixture.remote.rkey(), SendFlags.SIGNALLED)
                    .add(fixture.local, 0, 1);
            for (int entry = 1; i == 2 && entry < tooMany; entry++) {
                request.add(fixture.local, 0, 1);
            }
        }
        assertThrows(IllegalArgumentException.class, () -> fixture.queuePair.post(list));
        assertEquals(2, list.accepted());
        fixture.pair.requester().sends().expect(0, CompletionOpcode.WRITE, 1);
        fixture.pair.requester().sends().expect(1, CompletionOpcode.WRITE, 1);
        assertEquals(QueuePairState.READY_TO_SEND, fixture.queuePair.state());
        fixture.pair.barrier(); // Would arrive behind the rest of the list if it had been posted.
        list.clear();
        list.next()
                .read(7, fixture.remote.address(), fixture.remote.rkey(), SendFlags.SIGNALLED)
                .add(fixture.local, 0, BYTES);
        assertEquals(PostStatus.ACCEPTED, fixture.queuePair.post(list));
        assertEquals(1, list.accepted());
        fixture.expectReads(7, 8);
    }

    @Test
    @ConformanceCase(
            number = 96,
            title = "slots of unsignalled requests become free when a later signalled one is polled, not before",
            source = "ibv_post_send(3); rdma-unit-test QpPostTest; PostStatus.QUEUE_FULL")
    void shouldFreeSlotsOnlyWhenALaterSignalledRequestWasPolled(TwoNodes nodes) {
        Fixture fixture = Fixture.small(nodes);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < fixture.depth - 1; i++) {
                assertEquals(PostStatus.ACCEPTED, fixture.read(i, SendFlags.NONE), "unsignalled READ " + i);
            }
            assertEquals(PostStatus.ACCEPTED, fixture.read(1000, SendFlags.SIGNALLED));
            nodes.linger(1_000_000);
            assertEquals(PostStatus.QUEUE_FULL, fixture.read(1001, SendFlags.SIGNALLED), "before polling");
            fixture.expectReads(1000, 1001);
        }
        for (int i = 0; i < fixture.depth; i++) {
            assertEquals(PostStatus.ACCEPTED, fixture.read(i, SendFlags.NONE), "unsignalled READ " + i);
        }
        nodes.linger(10_000_000);
        assertEquals(PostStatus.QUEUE_FULL, fixture.read(1002, SendFlags.SIGNALLED), "nothing signalled to poll");
        fixture.pair.requester().sends().expectNone("no request was signalled");
    }

    @Test
    @ConformanceCase(
            number = 270,
            title = "one request in sixteen signalled: never full while the count says there is room",
            source = "ibv_post_send(3); linux-rdma/perftest --cq-mod")
    void shouldNeverBeFullWhenSlotsAreFree(TwoNodes nodes) {
        Fixture fixture = new Fixture(nodes, new ConnectionSpec());
        int requests = nodes.times(20_000) / SMALL_DEPTH * SMALL_DEPTH;
        int posted = 0;
        int released = 0;
        while (released < requests) {
            while (posted < requests && posted - released < fixture.depth) {
                boolean signalled = posted % SMALL_DEPTH == SMALL_DEPTH - 1;
                PostStatus status = fixture.read(posted, signalled ? SendFlags.SIGNALLED : SendFlags.NONE);
                assertEquals(
                        PostStatus.ACCEPTED,
                        status,
                        "READ " + posted + " with " + (posted - released) + " outstanding");
                posted++;
            }
            Completion completion = fixture.pair.requester().sends().next("a signalled READ");
            assertTrue(completion.isSuccess(), completion.toString());
            assertEquals(released + SMALL_DEPTH - 1, completion.wrId());
            released += SMALL_DEPTH;
        }
    }

    @Test
    @ConformanceCase(
            number = 97,
            title = "an unsignalled success produces no completion, unless the queue pair signals all",
            source = "rdma-unit-test RcQpTest.UnsignaledSend, QpSigAll; ibv_create_qp(3) sq_sig_all")
    void shouldCompleteOnlySignalledWhenNotAllAreSignalled(TwoNodes nodes) {
        Fixture some = Fixture.small(nodes);
        for (int i = 0; i < 4; i++) {
            Endpoint.require(some.read(i, i == 3 ? SendFlags.SIGNALLED : SendFlags.NONE), "READ " + i);
        }
        some.expectReads(3, 4);
        Fixture all = new Fixture(nodes, new ConnectionSpec().signalAll());
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        all.pair.responder().receive(9, inbox, 0, BYTES);
        Endpoint.require(all.read(0, SendFlags.NONE), "READ");
        Endpoint.require(
                all.queuePair.postWrite(
                        1, all.local, 0, BYTES, all.remote.address(), all.remote.rkey(), SendFlags.NONE),
                "WRITE");
        Endpoint.require(all.queuePair.postSend(2, all.local, 0, BYTES, SendFlags.NONE), "SEND");
        all.pair.requester().sends().expect(0, CompletionOpcode.READ, BYTES);
        all.pair.requester().sends().expect(1, CompletionOpcode.WRITE, BYTES);
        all.pair.requester().sends().expect(2, CompletionOpcode.SEND, BYTES);
        all.pair.responder().receives().expect(9, CompletionOpcode.RECEIVE, BYTES);
    }

    @Test
    @ConformanceCase(
            number = 98,
            title = "an unsignalled request that fails produces its completion",
            source = "rdma-unit-test RcQpTest.UnsignaledSendError; ibv_post_send(3)")
    void shouldCompleteUnsignalledRequestWhenItFails(TwoNodes nodes) {
        Fixture reading = Fixture.small(nodes);
        Endpoint.require(
                reading.queuePair.postRead(
                        5, reading.local, 0, BYTES, reading.remote.address(), BAD_KEY, SendFlags.NONE),
                "READ");
        reading.pair.requester().sends().expect(5, nodes.traits().readRefused(), "unsignalled READ with a bad key");
        reading.pair.expectBothBroken();
        Fixture sending = Fixture.small(nodes);
        Endpoint.require(sending.queuePair.postSend(6, sending.local, 1, BYTES, SendFlags.NONE), "SEND");
        sending.pair.requester().sends().expect(6, nodes.traits().badSource(), "unsignalled SEND past its region");
        sending.pair.expectBothBroken();
    }

    @Test
    @ConformanceCase(
            number = 99,
            title = "inline SEND and WRITE: the buffer may be overwritten at once, and its key does not matter",
            source = "rdma-unit-test RcQpTest.SendInlineData; ibv_post_send(3) IBV_SEND_INLINE")
    void shouldSendTheBytesOfPostingWhenInline(TwoNodes nodes) {
        int length = Math.min(BYTES, nodes.requester().device().capabilities().maxInline());
        nodes.require(length > 0, "no inline data");
        Fixture fixture = new Fixture(
                nodes,
                new ConnectionSpec().requesterLimits(new QueuePairLimits(SMALL_DEPTH, SMALL_DEPTH, 1, 1, length)));
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        int flags = SendFlags.INLINE | SendFlags.SIGNALLED;
        for (int round = 0; round < nodes.times(100); round++) {
            BytePattern written = nodes.pattern();
            BytePattern sent = nodes.pattern();
            fixture.pair.responder().receive(3, inbox, 0, BYTES);
            written.fill(fixture.local.memory().asSlice(0, length));
            SendWorkRequest request = new SendWorkRequest()
                    .write(1, fixture.remote.address(), fixture.remote.rkey(), flags)
                    .add(fixture.local.address(), length, BAD_KEY);
            Endpoint.require(fixture.queuePair.post(request), "inline WRITE");
            sent.fill(fixture.local.memory().asSlice(0, length));
            request.send(2, flags).add(fixture.local.address(), length, BAD_KEY);
            Endpoint.require(fixture.queuePair.post(request), "inline SEND");
            fixture.local.memory().fill(BytePattern.POISON);
            fixture.pair.requester().sends().expect(1, CompletionOpcode.WRITE, length);
            fixture.pair.requester().sends().expect(2, CompletionOpcode.SEND, length);
            fixture.pair.responder().receives().expect(3, CompletionOpcode.RECEIVE, length);
            written.require(fixture.remote.memory().asSlice(0, length), "inline WRITE in round " + round);
            sent.require(inbox.memory().asSlice(0, length), "inline SEND in round " + round);
        }
    }

    @Test
    @ConformanceCase(
            number = 303,
            title = "inline data of a ZERO_BASED region comes from the memory it names",
            source = "SendFlags.INLINE; ibv_post_send(3)")
    void shouldSendTheRegionsBytesWhenInlineFromZeroBased(TwoNodes nodes) {
        int length = Math.min(BYTES, nodes.requester().device().capabilities().maxInline());
        nodes.require(length > 0, "no inline data");
        nodes.require(Feature.ZERO_BASED);
        Fixture fixture = new Fixture(
                nodes,
                new ConnectionSpec().requesterLimits(new QueuePairLimits(SMALL_DEPTH, SMALL_DEPTH, 1, 1, length)));
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(2L * length, pattern, AccessFlag.ZERO_BASED);
        MemoryRegion inbox = nodes.responder().region(2L * length, AccessFlag.RECEIVE_SINK);
        int flags = SendFlags.INLINE | SendFlags.SIGNALLED;
        fixture.pair.responder().receive(1, inbox, 0, length);
        fixture.pair.responder().receive(2, inbox, length, length);
        Endpoint.require(fixture.queuePair.postSend(3, source, 0, length, flags), "inline SEND");
        SendWorkRequest request = new SendWorkRequest().send(4, flags).add(source, length, length);
        Endpoint.require(fixture.queuePair.post(request), "inline SEND");
        for (int i = 0; i < 2; i++) {
            fixture.pair.requester().sends().expect(3 + i, CompletionOpcode.SEND, length);
            fixture.pair.responder().receives().expect(1 + i, CompletionOpcode.RECEIVE, length);
        }
        pattern.require(inbox.memory(), "inline SENDs of both halves");
    }

    @Test
    @ConformanceCase(
            number = 100,
            title = "more inline bytes than the queue pair allows are refused when posted, and harm nothing",
            source = "rdma-unit-test RcQpTest.SendInlineDataOverLimit; ibv_create_qp(3) max_inline_data")
    void shouldRefuseToPostWhenInlineDataIsTooLong(TwoNodes nodes) {
        Fixture fixture = Fixture.small(nodes);
        int inline = fixture.queuePair.limits().maxInline();
        MemoryRegion local = nodes.requester().region(inline + 1L);
        int flags = SendFlags.INLINE | SendFlags.SIGNALLED;
        assertThrows(IllegalArgumentException.class, () -> fixture.queuePair.postSend(1, local, 0, inline + 1L, flags));
        assertThrows(
                IllegalArgumentException.class,
                () -> fixture.queuePair.postWrite(
                        2, local, 0, inline + 1L, fixture.remote.address(), fixture.remote.rkey(), flags));
        assertEquals(QueuePairState.READY_TO_SEND, fixture.queuePair.state());
        Endpoint.require(fixture.read(3, SendFlags.SIGNALLED), "READ after the refusal");
        fixture.expectReads(3, 4);
    }

    @Test
    @ConformanceCase(
            number = 101,
            title = "an inline READ is refused when posted",
            source = "rdma-unit-test RcQpTest.SendInlineDataInvalidOp; ibv_post_send(3)")
    void shouldRefuseToPostWhenReadIsInline(TwoNodes nodes) {
        int inline = Math.min(BYTES, nodes.requester().device().capabilities().maxInline());
        Fixture fixture = new Fixture(
                nodes,
                new ConnectionSpec().requesterLimits(new QueuePairLimits(SMALL_DEPTH, SMALL_DEPTH, 1, 1, inline)));
        assertThrows(IllegalArgumentException.class, () -> fixture.read(1, SendFlags.INLINE | SendFlags.SIGNALLED));
        assertEquals(QueuePairState.READY_TO_SEND, fixture.queuePair.state());
        Endpoint.require(fixture.read(2, SendFlags.SIGNALLED), "READ after the refusal");
        fixture.expectReads(2, 3);
    }

    @Test
    @ConformanceCase(
            number = 102,
            title = "work requests and lists may be reused at once after posting",
            source = "rdma-unit-test QpPostTest.SgePointerChase; ibv_post_send(3)")
    void shouldKeepWhatWasPostedWhenTheRequestIsReused(TwoNodes nodes) {
        Fixture fixture = Fixture.small(nodes);
        MemoryRegion sinks = nodes.requester().region((long) fixture.depth * BYTES, AccessFlag.READ_SINK);
        BytePattern pattern = nodes.pattern();
        MemoryRegion sources = nodes.responder().region((long) fixture.depth * BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion inbox = nodes.responder().region((long) SMALL_DEPTH * BYTES, AccessFlag.RECEIVE_SINK);
        ReceiveWorkRequest receive = new ReceiveWorkRequest();
        for (int i = 0; i < SMALL_DEPTH; i++) {
            receive.receive(i).add(inbox, (long) i * BYTES, BYTES);
            Endpoint.require(fixture.pair.responder().queuePair().post(receive), "RECV " + i);
        }
        receive.receive(-1).add(0, Long.MAX_VALUE, BAD_KEY);
        SendWorkRequest request = new SendWorkRequest();
        SendWorkRequestList list = new SendWorkRequestList(2);
        for (int i = 0; i + 1 < fixture.depth; i += 2) {
            list.clear();
            for (int j = i; j < i + 2; j++) {
                list.next()
                        .read(j, sources.address() + (long) j * BYTES, sources.rkey(), SendFlags.SIGNALLED)
                        .add(sinks, (long) j * BYTES, BYTES);
            }
            Endpoint.require(fixture.queuePair.post(list), "READs " + i);
            list.get(0).read(-1, 0, BAD_KEY, SendFlags.NONE).add(0, 1, BAD_KEY);
            list.get(1).send(-1, SendFlags.NONE);
        }
        fixture.expectReads(0, fixture.depth / 2 * 2);
        pattern.require(sinks.memory().asSlice(0, (long) fixture.depth / 2 * 2 * BYTES), "READs");
        for (int i = 0; i < SMALL_DEPTH; i++) {
            request.send(i, SendFlags.SIGNALLED).add(sinks, 0, BYTES);
            Endpoint.require(fixture.queuePair.post(request), "SEND " + i);
            request.send(-1, SendFlags.NONE).add(0, Long.MAX_VALUE, BAD_KEY);
            fixture.pair.requester().sends().expect(i, CompletionOpcode.SEND, BYTES);
            fixture.pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
            pattern.require(inbox.memory().asSlice((long) i * BYTES, BYTES), "SEND " + i);
        }
    }

    @Test
    @ConformanceCase(
            number = 103,
            title = "eight threads post to one queue pair: everything arrives once, in order per thread",
            source = "ibv_post_send(3) is thread-safe; rdma-unit-test ThreadedTest")
    void shouldKeepOrderOfEachThreadWhenManyPost(TwoNodes nodes) {
        nodes.requireThreads();
        int threads = 8;
        int messages = nodes.times(500);
        int window = 64;
        int messageBytes = 2 * Integer.BYTES;
        LoopbackPair pair = nodes.connect();
        MemoryRegion inbox = nodes.responder().region((long) window * messageBytes, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < window; i++) {
            pair.responder().receive(i, inbox, (long) i * messageBytes, messageBytes);
        }
        AtomicInteger started = new AtomicInteger();
        AtomicInteger received = new AtomicInteger();
        List<Task<Integer>> posters = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int id = thread;
            MemoryRegion source = nodes.requester().region((long) messages * messageBytes);
            posters.add(nodes.start("post-" + thread, () -> {
                for (int i = 0; i < messages; i++) {
                    long offset = (long) i * messageBytes;
                    source.memory().set(ValueLayout.JAVA_INT, offset, id);
                    source.memory().set(ValueLayout.JAVA_INT, offset + Integer.BYTES, i);
                    nodes.await("a RECV to be free", () -> {
                        int number = started.get();
                        return number - received.get() < window && started.compareAndSet(number, number + 1);
                    });
                    pair.requester().send(id, source, offset, messageBytes);
                }
                return 0;
            }));
        }
        int[] next = new int[threads];
        int sent = 0;
        for (int i = 0; i < threads * messages; i++) {
            Completion completion = pair.responder().receives().next("message " + i);
            assertTrue(completion.isSuccess(), completion.toString());
            long offset = completion.wrId() * messageBytes;
            int thread = inbox.memory().get(ValueLayout.JAVA_INT, offset);
            assertTrue(thread >= 0 && thread < threads, "message of thread " + thread);
            assertEquals(
                    next[thread]++,
                    inbox.memory().get(ValueLayout.JAVA_INT, offset + Integer.BYTES),
                    "order of the messages of thread " + thread);
            pair.responder().receive(completion.wrId(), inbox, offset, messageBytes);
            sent += pair.requester().sends().drain().size();
            received.incrementAndGet();
        }
        posters.forEach(Task::get);
        for (; sent < threads * messages; sent++) {
            pair.requester().sends().next("completions of the SENDs");
        }
        pair.responder().queuePair().close();
    }

    @Test
    @ConformanceCase(
            number = 104,
            title = "flags that are unknown or do not belong to the operation are refused when posted",
            source = "ibv_post_send(3): SOLICITED only for SEND; QueuePair")
    void shouldRefuseToPostWhenFlagsDoNotBelong(TwoNodes nodes) {
        Fixture fixture = Fixture.small(nodes);
        int signalled = SendFlags.SIGNALLED;
        long address = fixture.remote.address();
        int rkey = fixture.remote.rkey();
        assertThrows(IllegalArgumentException.class, () -> fixture.read(1, signalled | SendFlags.SOLICITED));
        assertThrows(
                IllegalArgumentException.class,
                () -> fixture.queuePair.postWrite(
                        2, fixture.local, 0, BYTES, address, rkey, signalled | SendFlags.SOLICITED));
        for (int unknown : new int[] {1 << 4, 1 << 20, Integer.MIN_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> fixture.read(3, signalled | unknown));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> fixture.queuePair.postSend(4, fixture.local, 0, BYTES, signalled | unknown));
        }
        SendWorkRequest tooMany = new SendWorkRequest().send(5, signalled);
        for (int i = 0; i <= fixture.queuePair.limits().maxSendScatterGather(); i++) {
            tooMany.add(fixture.local, 0, 1);
        }
        assertThrows(IllegalArgumentException.class, () -> fixture.queuePair.post(tooMany));
        ReceiveWorkRequest tooManyReceive = new ReceiveWorkRequest().receive(6);
        for (int i = 0; i <= fixture.queuePair.limits().maxReceiveScatterGather(); i++) {
            tooManyReceive.add(fixture.local, 0, 1);
        }
        assertThrows(IllegalArgumentException.class, () -> fixture.queuePair.post(tooManyReceive));
        assertEquals(QueuePairState.READY_TO_SEND, fixture.queuePair.state());
        Endpoint.require(fixture.read(7, signalled), "READ after the refusals");
        fixture.expectReads(7, 8);
        fixture.pair.requester().receives().expectNone("no RECV was posted");
    }

    @Test
    @ConformanceCase(
            number = 271,
            title = "RECVs over the size of their queue do not fit; each message polled makes room for one",
            source = "ibv_post_recv(3) ENOMEM; rdma-unit-test QpPostTest.OverflowRecvWr")
    void shouldRefuseReceivesWhenTheirQueueIsFull(TwoNodes nodes) {
        Fixture fixture = new Fixture(nodes, new ConnectionSpec().limits(QueuePairLimits.of(SMALL_DEPTH, SMALL_DEPTH)));
        QueuePair responder = fixture.pair.responder().queuePair();
        int depth = responder.limits().maxReceiveWorkRequests();
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < depth; i++) {
            assertEquals(PostStatus.ACCEPTED, responder.postReceive(i, inbox, 0, BYTES), "RECV " + i);
        }
        assertEquals(PostStatus.QUEUE_FULL, responder.postReceive(depth, inbox, 0, BYTES));
        for (int i = 0; i < 3; i++) {
            fixture.pair.requester().send(i, fixture.local, 0, BYTES);
            fixture.pair.requester().sends().expect(i, CompletionOpcode.SEND, BYTES);
            fixture.pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
            assertEquals(PostStatus.ACCEPTED, responder.postReceive(depth + i, inbox, 0, BYTES));
            assertEquals(PostStatus.QUEUE_FULL, responder.postReceive(depth, inbox, 0, BYTES));
        }
        fixture.pair.responder().queuePair().close();
    }

    @Test
    @ConformanceCase(
            number = 304,
            title = "the slot of a RECV becomes free when its completion is polled, not when its message arrives",
            source = "ibv_post_recv(3) ENOMEM, ibv_poll_cq(3); PostStatus.QUEUE_FULL")
    void shouldKeepTheSlotOfAReceiveUntilItsCompletionIsPolled(TwoNodes nodes) {
        FullReceives full = new FullReceives(nodes);
        int messages = 3;
        for (int i = 0; i < messages; i++) {
            full.pair.requester().send(i, full.local, 0, BYTES);
            full.pair.requester().sends().expect(i, CompletionOpcode.SEND, BYTES);
        }
        full.pair.barrier(); // A READ behind the SENDs: they have consumed their RECVs (RFC 5040, section 5.5).
        full.expectFull("three messages have come, none was polled");
        for (int i = 0; i < messages; i++) {
            full.pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
        }
        for (int i = 0; i < messages; i++) {
            assertEquals(PostStatus.ACCEPTED, full.post(full.depth + i), "message " + i + " was polled");
        }
        full.expectFull("three messages were polled");
        full.pair.responder().queuePair().close();
    }

    @Test
    @ConformanceCase(
            number = 305,
            title = "in ERROR, too, slots of a queue are free once their flushed completions were polled, and not"
                    + " before",
            source = "ibv_post_recv(3) ENOMEM, IBV_WC_WR_FLUSH_ERR; PostStatus.QUEUE_FULL")
    void shouldKeepTheSlotsOfFlushedReceivesUntilTheyArePolled(TwoNodes nodes) {
        FullReceives full = new FullReceives(nodes);
        full.pair.requester().queuePair().disconnect();
        full.pair.requester().awaitError();
        full.pair.responder().awaitError();
        full.expectFull("nothing was polled");
        for (int i = 0; i < full.depth; i++) {
            full.pair.responder().receives().expect(i, Set.of(CompletionStatus.FLUSHED), "flush of RECV " + i);
        }
        for (int i = 0; i < full.depth; i++) {
            assertEquals(PostStatus.ACCEPTED, full.post(full.depth + i), "all flushed completions were polled");
        }
        for (int i = full.depth; i < 2 * full.depth; i++) {
            full.pair.responder().receives().expect(i, Set.of(CompletionStatus.FLUSHED), "flush of RECV " + i);
        }
    }

    /** A connection whose responder has posted as many RECVs as fit, numbered from 0. */
    private static final class FullReceives {
        final LoopbackPair pair;
        final int depth;
        final MemoryRegion local;
        private final MemoryRegion inbox;

        FullReceives(TwoNodes nodes) {
            pair = nodes.connect(new ConnectionSpec().limits(QueuePairLimits.of(SMALL_DEPTH, SMALL_DEPTH)));
            depth = pair.responder().queuePair().limits().maxReceiveWorkRequests();
            local = nodes.requester().region(BYTES);
            inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
            for (int i = 0; i < depth; i++) {
                assertEquals(PostStatus.ACCEPTED, post(i), "RECV " + i);
            }
            expectFull("all slots are taken");
        }

        PostStatus post(long wrId) {
            return pair.responder().queuePair().postReceive(wrId, inbox, 0, BYTES);
        }

        void expectFull(String why) {
            assertEquals(PostStatus.QUEUE_FULL, post(-1), why);
        }
    }
}
