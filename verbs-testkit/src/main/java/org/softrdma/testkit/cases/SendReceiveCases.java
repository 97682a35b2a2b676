package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** SEND and RECV: sizes, order, and every way in which they may not match. */
@ExtendWith(TwoNodesExtension.class)
public final class SendReceiveCases {
    private static final int BYTES = 256;
    private static final int MAX_MESSAGE = 64 << 10;
    private static final int BAD_KEY = 0xDEADBEEF;

    /** Made by JUnit. */
    public SendReceiveCases() {}

    @Test
    @ConformanceCase(
            number = 105,
            title = "SEND of one byte to 64 KiB: all bytes arrive and none behind them changes",
            source = "rdma-unit-test RcQpTest.Send, SendRcBatchedMr; ibv_poll_cq(3) byte_len")
    void shouldDeliverEveryByteWhenSending(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        MemoryRegion inbox = nodes.responder().region(MAX_MESSAGE + BYTES, AccessFlag.RECEIVE_SINK);
        for (int length : new int[] {1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1460, 4096, 9001, 65_515, MAX_MESSAGE}) {
            BytePattern pattern = nodes.pattern();
            MemoryRegion source = nodes.requester().region(length, pattern);
            inbox.memory().fill(BytePattern.POISON);
            pair.responder().receive(length, inbox, 0, MAX_MESSAGE + BYTES);
            pair.requester().send(-length, source, 0, length);
            pair.requester().sends().expect(-length, CompletionOpcode.SEND, length);
            pair.responder().receives().expect(length, CompletionOpcode.RECEIVE, length);
            pattern.require(inbox.memory().asSlice(0, length), "message of " + length + " bytes");
            BytePattern.requireAll(
                    inbox.memory().asSlice(length), BytePattern.POISON, "behind a message of " + length + " bytes");
        }
    }

    @Test
    @ConformanceCase(
            number = 106,
            title = "the n-th SEND fills the n-th RECV",
            source = "IBTA 9.6; RFC 5041 section 5.3; ibv_post_recv(3)")
    void shouldFillReceivesInOrderWhenMessagesArrive(TwoNodes nodes) {
        int count = 64;
        LoopbackPair pair = nodes.connect();
        MemoryRegion inbox = nodes.responder().region((long) count * BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion source = nodes.requester().region((long) count * BYTES, nodes.pattern());
        for (int round = 0; round < nodes.times(10); round++) {
            inbox.memory().fill((byte) 0);
            BytePattern pattern = nodes.pattern();
            pattern.fill(source.memory());
            for (int i = 0; i < count; i++) {
                pair.responder().receive(i, inbox, (long) i * BYTES, BYTES);
            }
            for (int i = 0; i < count; i++) {
                pair.requester().send(i, source, (long) i * BYTES, BYTES);
            }
            for (int i = 0; i < count; i++) {
                pair.requester().sends().expect(i, CompletionOpcode.SEND, BYTES);
                pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
            }
            pattern.require(inbox.memory(), "messages side by side in round " + round);
        }
    }

    @Test
    @ConformanceCase(
            number = 107,
            title = "a message longer than its RECV fails on both sides and writes nothing behind the buffer",
            source = "rdma-unit-test RcQpTest.SendWithTooSmallRecv; RFC 5041 section 7.1 (message too long)")
    void shouldFailOnBothSidesWhenMessageIsTooLong(TwoNodes nodes) {
        for (int excess : new int[] {1, MAX_MESSAGE}) {
            LoopbackPair pair = nodes.connect();
            MemoryRegion inbox = nodes.responder().region(MAX_MESSAGE * 2L, AccessFlag.RECEIVE_SINK);
            inbox.memory().fill(BytePattern.POISON);
            MemoryRegion source = nodes.requester().region(BYTES + excess, nodes.pattern());
            pair.responder().receive(1, inbox, 0, BYTES);
            pair.requester().send(2, source, 0, BYTES + excess);
            pair.responder()
                    .receives()
                    .expect(1, nodes.traits().receiveTooShort(), "RECV that is " + excess + " bytes too short");
            pair.requester()
                    .sends()
                    .expect(2, nodes.traits().sendRefused(), "SEND that is " + excess + " bytes too long");
            pair.expectBothBroken();
            BytePattern.requireAll(
                    inbox.memory().asSlice(BYTES), BytePattern.POISON, "memory behind the entry of the RECV");
        }
    }

    @Test
    @ConformanceCase(
            number = 108,
            title = "without receiver-not-ready a SEND that finds no RECV ends the connection",
            source = "RFC 5040 section 5.1, RFC 5041 section 7.1 (no buffer available)")
    void shouldEndTheConnectionWhenNoReceiveIsPosted(TwoNodes nodes) {
        nodes.require(!nodes.traits().has(Trait.RECEIVER_NOT_READY), "a SEND waits for its RECV here");
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.requester().region(BYTES);
        pair.requester().send(1, source, 0, BYTES);
        pair.requester().sends().expect(1, nodes.traits().sendRefused(), "SEND without RECV");
        pair.expectBothBroken();
    }

    @Test
    @ConformanceCase(
            number = 109,
            title = "with receiver-not-ready a SEND waits for its RECV",
            source = "rdma-unit-test RcQpTest.SendRnrInfiniteRetries; ibv_modify_qp(3) rnr_retry")
    void shouldWaitForTheReceiveWhenReceiverIsNotReady(TwoNodes nodes) {
        nodes.require(Feature.RECEIVER_NOT_READY);
        LoopbackPair pair = nodes.connect();
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        pair.requester().send(1, source, 0, BYTES);
        nodes.linger(100_000_000);
        pair.responder().receive(2, inbox, 0, BYTES);
        pair.requester().sends().expect(1, CompletionOpcode.SEND, BYTES);
        pair.responder().receives().expect(2, CompletionOpcode.RECEIVE, BYTES);
        pattern.require(inbox.memory(), "the message that waited");
    }

    @Test
    @ConformanceCase(
            number = 110,
            title = "sixteen RECVs and thirty-two SENDs: the sixteen are filled, whatever becomes of the rest",
            source = "rdma-unit-test traffic rnr_nack; RFC 5041 section 7.1")
    void shouldFillWhatIsPostedWhenMoreIsSent(TwoNodes nodes) {
        int receives = 16;
        LoopbackPair pair = nodes.connect();
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(2L * receives * BYTES, pattern);
        MemoryRegion inbox = nodes.responder().region(2L * receives * BYTES, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < receives; i++) {
            pair.responder().receive(i, inbox, (long) i * BYTES, BYTES);
        }
        for (int i = 0; i < 2 * receives; i++) {
            pair.requester().send(i, source, (long) i * BYTES, BYTES);
        }
        for (int i = 0; i < receives; i++) {
            pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
        }
        if (nodes.traits().has(Trait.RECEIVER_NOT_READY)) {
            for (int i = receives; i < 2 * receives; i++) {
                pair.responder().receive(i, inbox, (long) i * BYTES, BYTES);
            }
            for (int i = receives; i < 2 * receives; i++) {
                pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
            }
            pair.requester().sends().take(2 * receives, "the SENDs").forEach(SendReceiveCases::requireSuccess);
            pattern.require(inbox.memory(), "all messages");
        } else {
            Refusals.expectSuccessesThenFlushes(
                    nodes,
                    pair.requester().sends().take(2 * receives, "the SENDs"),
                    nodes.traits().sendRefused(),
                    "SENDs, half of them without RECV");
            pair.expectBothBroken();
            pattern.require(inbox.memory().asSlice(0, (long) receives * BYTES), "messages that had a RECV");
        }
    }

    private static void requireSuccess(Completion completion) {
        assertTrue(completion.isSuccess(), completion.toString());
    }

    @Test
    @ConformanceCase(
            number = 111,
            title = "a message for a RECV with a bad key or a bad address fails on both sides",
            source = "rdma-unit-test RcQpTest.BadRecvLkey, BadRecvAddr; IBTA 10.7.2.2")
    void shouldFailOnBothSidesWhenReceiveEntryIsBad(TwoNodes nodes) {
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        inbox.memory().fill(BytePattern.POISON);
        LoopbackPair badKey = nodes.connect();
        Endpoint.require(
                badKey.responder()
                        .queuePair()
                        .post(new ReceiveWorkRequest().receive(1).add(inbox.address(), BYTES, BAD_KEY)),
                "RECV");
        Refusals.expectReceiveFails(nodes, badKey, inbox.memory(), "its key is bad");
        LoopbackPair badAddress = nodes.connect();
        Endpoint.require(
                badAddress
                        .responder()
                        .queuePair()
                        .post(new ReceiveWorkRequest().receive(1).add(inbox.address() - 1, BYTES, inbox.lkey())),
                "RECV");
        Refusals.expectReceiveFails(nodes, badAddress, inbox.memory(), "its address is bad");
    }

    @Test
    @ConformanceCase(
            number = 112,
            title = "SEND with a bad key, or with an rkey, fails at the requester; nothing arrives",
            source = "rdma-unit-test RcQpTest.SendInvalidLkey; IBTA 10.7.2.2")
    void shouldFailLocallyWhenSendEntryIsBad(TwoNodes nodes) {
        MemoryRegion source = nodes.requester().region(BYTES);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        inbox.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        SendWorkRequest request = new SendWorkRequest().send(1, SendFlags.SIGNALLED);
        Endpoint.require(pair.requester().queuePair().post(request.add(source.address(), BYTES, BAD_KEY)), "SEND");
        Refusals.expectLocalError(nodes, pair, nodes.traits().badSource(), "SEND with a bad key");
        if (source.rkey() != source.lkey()) {
            LoopbackPair mixedUp = nodes.connect();
            request.send(1, SendFlags.SIGNALLED).add(source.address(), BYTES, source.rkey());
            Endpoint.require(mixedUp.requester().queuePair().post(request), "SEND");
            Refusals.expectLocalError(nodes, mixedUp, nodes.traits().badSource(), "SEND by an rkey");
        }
        LoopbackPair waiting = nodes.connect();
        waiting.responder().receive(9, inbox, 0, BYTES);
        request.send(1, SendFlags.SIGNALLED).add(source.address(), BYTES, BAD_KEY);
        Endpoint.require(waiting.requester().queuePair().post(request), "SEND");
        waiting.requester().sends().expect(1, nodes.traits().badSource(), "SEND with a bad key, RECV posted");
        waiting.responder().receives().expect(9, Set.of(CompletionStatus.FLUSHED), "RECV of the message never sent");
        waiting.requester().awaitError();
        BytePattern.requireAll(inbox.memory(), BytePattern.POISON, "buffer of the message never sent");
    }

    @Test
    @ConformanceCase(
            number = 280,
            title = "messages in both directions at once, every byte checked",
            source = "rdma-unit-test traffic basic_rc; IBTA 9.6")
    void shouldDeliverBothWaysWhenBothSend(TwoNodes nodes) {
        int count = 32;
        LoopbackPair pair = nodes.connect();
        MemoryRegion[] sources = {
            nodes.requester().region((long) count * BYTES), nodes.responder().region((long) count * BYTES)
        };
        MemoryRegion[] inboxes = {
            nodes.requester().region((long) count * BYTES, AccessFlag.RECEIVE_SINK),
            nodes.responder().region((long) count * BYTES, AccessFlag.RECEIVE_SINK)
        };
        Endpoint[] ends = {pair.requester(), pair.responder()};
        pair.barrier(); // The requester sends first.
        for (int round = 0; round < nodes.times(100); round++) {
            BytePattern[] patterns = {nodes.pattern(), nodes.pattern()};
            for (int side = 0; side < 2; side++) {
                patterns[side].fill(sources[side].memory());
                for (int i = 0; i < count; i++) {
                    ends[side].receive(i, inboxes[side], (long) i * BYTES, BYTES);
                }
            }
            for (int i = 0; i < count; i++) {
                ends[0].send(i, sources[0], (long) i * BYTES, BYTES);
                ends[1].send(i, sources[1], (long) i * BYTES, BYTES);
            }
            for (int side = 0; side < 2; side++) {
                for (int i = 0; i < count; i++) {
                    ends[side].sends().expect(i, CompletionOpcode.SEND, BYTES);
                    ends[side].receives().expect(i, CompletionOpcode.RECEIVE, BYTES);
                }
                patterns[1 - side].require(inboxes[side].memory(), "messages in round " + round);
            }
        }
    }
}
