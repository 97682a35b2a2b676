package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
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
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.Connector;

/** Queue pairs: creation, the states an application can see, flushing, and destruction with requests in flight. */
@ExtendWith(TwoNodesExtension.class)
public final class QueuePairCases {
    private static final int BYTES = 64;
    private static final int DEEP = 1024;
    private static final Set<CompletionStatus> FLUSHED = Set.of(CompletionStatus.FLUSHED);

    /** Made by JUnit. */
    public QueuePairCases() {}

    private static Connector connector(TwoNodes nodes) {
        return nodes.own(nodes.requester().device().resolve(nodes.responderAddress(), nodes.timeoutNs()));
    }

    private static QueuePair create(TwoNodes nodes, CompletionReader completions, QueuePairLimits limits) {
        return nodes.own(connector(nodes)
                .createQueuePair(nodes.requester().domain(), QueuePairAttributes.of(completions.queue(), limits)));
    }

    @Test
    @ConformanceCase(
            number = 73,
            title = "a new queue pair is not connected, has the sizes asked for and a number of its own",
            source = "rdma-unit-test QpTest.Create; ibv_create_qp(3)")
    void shouldReportItselfWhenCreated(TwoNodes nodes) {
        CompletionReader completions = nodes.requester().completions(64);
        Capabilities capabilities = nodes.requester().device().capabilities();
        int entries = Math.min(2, capabilities.maxScatterGather());
        QueuePairLimits asked = new QueuePairLimits(3, 5, entries, 1, Math.min(16, capabilities.maxInline()));
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            QueuePair queuePair = create(nodes, completions, asked);
            QueuePairLimits limits = queuePair.limits();
            assertEquals(QueuePairState.INITIAL, queuePair.state());
            assertSame(nodes.requester().domain(), queuePair.protectionDomain());
            assertTrue(limits.maxSendWorkRequests() >= asked.maxSendWorkRequests(), limits.toString());
            assertTrue(limits.maxReceiveWorkRequests() >= asked.maxReceiveWorkRequests(), limits.toString());
            assertTrue(limits.maxSendScatterGather() >= asked.maxSendScatterGather(), limits.toString());
            assertTrue(limits.maxReceiveScatterGather() >= asked.maxReceiveScatterGather(), limits.toString());
            assertTrue(limits.maxInline() >= asked.maxInline(), limits.toString());
            assertThrows(IllegalStateException.class, queuePair::connectionCapabilities);
            assertTrue(numbers.add(queuePair.number()), "number " + queuePair.number() + " is given twice");
        }
    }

    @Test
    @ConformanceCase(
            number = 74,
            title = "sizes at the limits of the device work, sizes above them and of 0 are refused",
            source = "rdma-unit-test QpTest.MaxQpWr, OverMaxQpWr; ibv_create_qp(3)")
    void shouldCheckSizesWhenCreated(TwoNodes nodes) {
        CompletionReader completions = nodes.requester().completions(64);
        Capabilities most = nodes.requester().device().capabilities();
        int sends = most.maxSendWorkRequests();
        int receives = most.maxReceiveWorkRequests();
        int entries = most.maxScatterGather();
        int inline = most.maxInline();
        List<QueuePairLimits> tooMuch = List.of(
                new QueuePairLimits(sends + 1, 1, 1, 1, 0),
                new QueuePairLimits(1, receives + 1, 1, 1, 0),
                new QueuePairLimits(1, 1, entries + 1, 1, 0),
                new QueuePairLimits(1, 1, 1, entries + 1, 0),
                new QueuePairLimits(1, 1, 1, 1, inline + 1),
                new QueuePairLimits(0, 1, 1, 1, 0),
                new QueuePairLimits(1, 0, 1, 1, 0),
                new QueuePairLimits(1, 1, 0, 1, 0),
                new QueuePairLimits(1, 1, 1, 0, 0),
                new QueuePairLimits(1, 1, 1, 1, -1));
        for (QueuePairLimits limits : tooMuch) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> create(nodes, completions, limits),
                    "created with " + limits + " on " + most);
        }
        create(nodes, completions, new QueuePairLimits(sends, 1, 1, 1, 0)).close();
        create(nodes, completions, new QueuePairLimits(1, receives, 1, 1, 0)).close();
        create(nodes, completions, new QueuePairLimits(1, 1, entries, entries, 0))
                .close();
        create(nodes, completions, new QueuePairLimits(1, 1, 1, 1, inline)).close();
    }

    @Test
    @ConformanceCase(
            number = 77,
            title = "RECVs posted before connecting and before accepting take the first messages",
            source = "rdma-unit-test QpTest.PostRecvInit; rdma_create_qp(3)")
    void shouldUseReceivesWhenPostedBeforeConnecting(TwoNodes nodes) {
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        MemoryRegion requesterInbox = nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion responderInbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        LoopbackPair pair = nodes.connect(new ConnectionSpec()
                .beforeConnect(end -> end.receive(1, requesterInbox, 0, BYTES))
                .beforeAccept(end -> end.receive(2, responderInbox, 0, BYTES)));
        pair.requester().send(3, source, 0, BYTES);
        pair.requester().sends().expect(3, CompletionOpcode.SEND, BYTES);
        pair.responder().receives().expect(2, CompletionOpcode.RECEIVE, BYTES);
        pattern.require(responderInbox.memory(), "the first message");
        pair.responder().send(4, responderInbox, 0, BYTES);
        pair.responder().sends().expect(4, CompletionOpcode.SEND, BYTES);
        pair.requester().receives().expect(1, CompletionOpcode.RECEIVE, BYTES);
        pattern.require(requesterInbox.memory(), "the answer");
    }

    @Test
    @ConformanceCase(
            number = 78,
            title = "SEND, WRITE and READ are refused before the connection exists, RECV is not",
            source = "rdma-unit-test QpStateTest.PostSendReset, PostSendInit; ibv_post_send(3)")
    void shouldRefuseToPostSendsWhenNotConnected(TwoNodes nodes) {
        CompletionReader completions = nodes.requester().completions(64);
        MemoryRegion region = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        QueuePair queuePair = create(nodes, completions, QueuePairLimits.of(8, 8));
        int flags = SendFlags.SIGNALLED;
        assertThrows(IllegalStateException.class, () -> queuePair.postSend(1, region, 0, BYTES, flags));
        assertThrows(IllegalStateException.class, () -> queuePair.postWrite(2, region, 0, BYTES, 0, 1, flags));
        assertThrows(IllegalStateException.class, () -> queuePair.postRead(3, region, 0, BYTES, 0, 1, flags));
        assertEquals(PostStatus.ACCEPTED, queuePair.postReceive(4, region, 0, BYTES));
        assertEquals(QueuePairState.INITIAL, queuePair.state());
        completions.expectNone("nothing was sent");
        queuePair.close();
        completions.expectNone("a closed queue pair flushes nothing");
    }

    @Test
    @ConformanceCase(
            number = 79,
            title = "in ERROR everything may still be posted, and is flushed",
            source = "rdma-unit-test QpStateTest.PostSendErr, PostRecvErr; ibv_modify_qp(3)")
    void shouldFlushWhateverIsPostedWhenInError(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        MemoryRegion local = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        pair.requester().queuePair().disconnect();
        pair.requester().queuePair().disconnect();
        for (int round = 0; round < 2; round++) {
            pair.expectBothBroken();
            pair.requester().read(1, local, remote);
            pair.requester().write(2, local, remote);
            pair.requester().send(3, local, 0, BYTES);
            pair.requester().receive(4, local, 0, BYTES);
            for (int wrId = 1; wrId <= 3; wrId++) {
                pair.requester().sends().expect(wrId, FLUSHED, "request " + wrId + " in ERROR");
            }
            pair.requester().receives().expect(4, FLUSHED, "RECV in ERROR");
            nodes.linger(50_000_000);
        }
        assertEquals(QueuePairState.ERROR, pair.requester().queuePair().state());
    }

    @Test
    @ConformanceCase(
            number = 80,
            title = "disconnect amid a thousand requests: success up to one of them, FLUSHED after it, none missing",
            source = "rdma-unit-test QpStateTest.PostSendErrConcurrent; ibv_post_send(3)")
    void shouldFlushExactlyTheRestWhenDisconnectedAmidRequests(TwoNodes nodes) {
        Capabilities capabilities = nodes.requester().device().capabilities();
        int depth = Math.min(DEEP, capabilities.maxSendWorkRequests()) - 1;
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (int round = 0; round < nodes.times(3); round++) {
            LoopbackPair pair = nodes.connect(new ConnectionSpec().requesterLimits(QueuePairLimits.of(depth + 1, 8)));
            QueuePair queuePair = pair.requester().queuePair();
            int disconnectAt = nodes.random().nextInt(depth);
            boolean[] signalled = new boolean[depth];
            Task<Integer> disconnecting = null;
            for (int i = 0; i < depth; i++) {
                signalled[i] = nodes.random().nextInt(4) != 0;
                if (i == disconnectAt && nodes.requester().device().manualProgress()) {
                    queuePair.disconnect();
                } else if (i == disconnectAt) {
                    disconnecting = nodes.start("disconnect", () -> {
                        queuePair.disconnect();
                        return 0;
                    });
                }
                int flags = signalled[i] ? SendFlags.SIGNALLED : SendFlags.NONE;
                Endpoint.require(
                        queuePair.postRead(i, sink, 0, BYTES, source.address(), source.rkey(), flags), "READ " + i);
            }
            if (disconnecting != null) {
                disconnecting.get();
            }
            pair.requester().awaitError();
            pair.requester().read(depth, sink, source); // Its flush comes behind all others.
            requireExactFlush(pair, signalled, depth);
            pair.expectBothBroken();
        }
    }

    private static void requireExactFlush(LoopbackPair pair, boolean[] signalled, int last) {
        List<Completion> completions = new ArrayList<>();
        do {
            completions.add(pair.requester().sends().next("completions up to that of READ " + last));
        } while (completions.getLast().wrId() != last);
        long firstFailed = completions.stream()
                .filter(completion -> !completion.isSuccess())
                .mapToLong(Completion::wrId)
                .findFirst()
                .orElseThrow(() -> new AssertionError("the READ posted in ERROR succeeded"));
        List<String> expected = new ArrayList<>();
        for (int i = 0; i <= last; i++) {
            if (i >= firstFailed) {
                expected.add(i + " " + CompletionStatus.FLUSHED);
            } else if (signalled[i]) {
                expected.add(i + " " + CompletionStatus.SUCCESS);
            }
        }
        List<String> found = completions.stream()
                .map(completion -> completion.wrId() + " " + completion.status())
                .toList();
        assertEquals(expected, found, "completions, the first failure being that of " + firstFailed);
    }

    @Test
    @ConformanceCase(
            number = 81,
            title = "RECVs outstanding at a disconnect are flushed in order on both sides",
            source = "rdma_disconnect(3); IBTA 10.3.1.5")
    void shouldFlushReceivesInOrderWhenDisconnected(TwoNodes nodes) {
        int receives = 100;
        for (boolean byRequester : new boolean[] {true, false}) {
            LoopbackPair pair = nodes.connect();
            for (Endpoint end : List.of(pair.requester(), pair.responder())) {
                MemoryRegion inbox = end.node().region(BYTES, AccessFlag.RECEIVE_SINK);
                for (int i = 0; i < receives; i++) {
                    end.receive(i, inbox, 0, BYTES);
                }
            }
            (byRequester ? pair.requester() : pair.responder()).queuePair().disconnect();
            for (Endpoint end : List.of(pair.requester(), pair.responder())) {
                for (int i = 0; i < receives; i++) {
                    end.receives().expect(i, FLUSHED, end.node().name() + "'s RECV " + i);
                }
            }
            pair.expectBothBroken();
        }
    }

    @Test
    @ConformanceCase(
            number = 83,
            title = "destroying a queue pair with requests in flight disturbs no other",
            source = "rdma-unit-test QpTest.QpDestroyTargetWhileActive; ibv_destroy_qp(3)")
    void shouldDisturbNoOtherWhenDestroyedAtWork(TwoNodes nodes) {
        int length = 16 << 10;
        int depth = Math.min(DEEP, nodes.requester().device().capabilities().maxSendWorkRequests());
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(length, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion victimSink = nodes.requester().region(length, AccessFlag.READ_SINK);
        MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
        LoopbackPair busy = nodes.connect();
        for (int round = 0; round < nodes.times(6); round++) {
            LoopbackPair victim = nodes.connect(new ConnectionSpec().requesterLimits(QueuePairLimits.of(depth, 8)));
            for (int i = 0; i < depth; i++) {
                victim.requester().read(i, victimSink, source);
            }
            sink.memory().fill((byte) 0);
            for (int i = 0; i < 32; i++) {
                busy.requester().read(i, sink, source);
            }
            if (round % 2 == 0) {
                victim.requester().queuePair().close();
                assertEquals(
                        QueuePairState.CLOSED, victim.requester().queuePair().state());
                victim.requester().sends().expectNone("its queue pair is closed");
                victim.responder().awaitError();
            } else {
                victim.responder().queuePair().close();
                List<Completion> completions = victim.requester().sends().take(depth, "READs of a closed peer");
                Refusals.expectSuccessesThenFlushes(
                        nodes, completions, nodes.traits().peerGone(), "READs");
                victim.requester().awaitError();
            }
            for (int i = 0; i < 32; i++) {
                busy.requester().sends().expect(i, CompletionOpcode.READ, length);
            }
            pattern.require(sink.memory(), "READ of the busy queue pair");
        }
    }

    @Test
    @ConformanceCase(
            number = 84,
            title = "SEND, WRITE and READ to a destroyed peer end in an error, not in silence",
            source = "rdma-unit-test RemoteRcQpStateTests; ibv_post_send(3)")
    void shouldFailWhenThePeerIsDestroyed(TwoNodes nodes) {
        MemoryRegion local = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        for (int kind = 0; kind < 3; kind++) {
            LoopbackPair pair = nodes.connect();
            pair.responder().queuePair().close();
            switch (kind) {
                case 0 -> pair.requester().read(0, local, remote);
                case 1 -> pair.requester().write(1, local, remote);
                default -> pair.requester().send(2, local, 0, BYTES);
            }
            Completion completion = pair.requester().sends().next("request " + kind + " to a destroyed peer");
            boolean sentOnly = kind > 0 && !nodes.traits().has(Trait.ACKNOWLEDGED_WRITES) && completion.isSuccess();
            assertTrue(sentOnly || nodes.traits().peerGone().contains(completion.status()), completion.toString());
            pair.requester().awaitError();
            pair.requester().read(9, local, remote);
            pair.requester().sends().expect(9, FLUSHED, "READ after the end");
        }
    }

    @Test
    @ConformanceCase(
            number = 86,
            title = "a connection keeps working while very many queue pairs come and go",
            source = "rdma-unit-test QpTest.QpIdRollover")
    void shouldKeepWorkingWhenManyQueuePairsComeAndGo(TwoNodes nodes) {
        int rounds = nodes.times(10_000);
        LoopbackPair pair = nodes.connect();
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        CompletionReader completions = nodes.requester().completions(8);
        QueuePairAttributes attributes = QueuePairAttributes.of(completions.queue(), QueuePairLimits.of(1, 1));
        for (int i = 0; i < rounds; i++) {
            try (Connector connector = nodes.requester().device().resolve(nodes.responderAddress(), nodes.timeoutNs());
                    QueuePair passing =
                            connector.createQueuePair(nodes.requester().domain(), attributes)) {
                assertTrue(
                        passing.number() != pair.requester().queuePair().number(),
                        "number of a live queue pair reused in round " + i);
            }
            if (i % 1000 == 0) {
                sink.memory().fill((byte) 0);
                pair.requester().read(i, sink, source);
                pair.requester().sends().expect(i, CompletionOpcode.READ, BYTES);
                pattern.require(sink.memory(), "READ in round " + i);
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 250,
            title = "a closed queue pair is CLOSED for ever: closing again is harmless, posting is refused",
            source = "QueuePair.close; ibv_destroy_qp(3)")
    void shouldRefuseToPostWhenClosed(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        MemoryRegion region = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        QueuePair queuePair = pair.requester().queuePair();
        queuePair.close();
        queuePair.close();
        assertEquals(QueuePairState.CLOSED, queuePair.state());
        assertThrows(IllegalStateException.class, () -> queuePair.postSend(1, region, 0, BYTES, SendFlags.SIGNALLED));
        assertThrows(IllegalStateException.class, () -> queuePair.postReceive(2, region, 0, BYTES));
        queuePair.disconnect();
        assertEquals(QueuePairState.CLOSED, queuePair.state());
        pair.responder().awaitError();
    }

    @Test
    @ConformanceCase(
            number = 251,
            title = "disconnect by either side ends an idle connection on both sides",
            source = "rdma_disconnect(3): RDMA_CM_EVENT_DISCONNECTED on both sides")
    void shouldEndOnBothSidesWhenOneDisconnects(TwoNodes nodes) {
        List<LoopbackPair> pairs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            pairs.add(nodes.connect());
        }
        pairs.get(0).requester().queuePair().disconnect();
        pairs.get(1).responder().queuePair().disconnect();
        pairs.get(2).requester().queuePair().disconnect();
        pairs.get(2).responder().queuePair().disconnect();
        for (int i = 0; i < 3; i++) {
            pairs.get(i).expectBothBroken();
        }
        LoopbackPair untouched = pairs.get(3);
        assertEquals(
                QueuePairState.READY_TO_SEND, untouched.requester().queuePair().state());
        assertEquals(
                QueuePairState.READY_TO_SEND, untouched.responder().queuePair().state());
        untouched.barrier();
    }
}
