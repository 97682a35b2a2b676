package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.SendFlags;

/** Unreliable connections: SENDs and WRITEs as on reliable ones, but what the peer cannot take is lost, and no error. */
@ExtendWith(TwoNodesExtension.class)
public final class UnreliableConnectionCases {
    private static final int BYTES = 1 << 16;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final int INLINE = 32;
    private static final int ATTEMPTS = 10;
    private static final long WAIT_NS = 20_000_000;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(64, 64, 1, 1, INLINE);
    private static final AccessFlag[] WRITABLE = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE};

    /** Made by JUnit. */
    public UnreliableConnectionCases() {}

    private static LoopbackPair connect(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.UNRELIABLE_CONNECTION);
        return nodes.connectByAddresses(QueuePairType.UNRELIABLE_CONNECTION, LIMITS);
    }

    @Test
    @ConformanceCase(
            number = 400,
            title = "SENDs and WRITEs of an unreliable connection arrive whole, in either direction",
            source = "rdma-unit-test UcQpTest; ibv_post_send(3); IBTA 9.8.2")
    void shouldMoveWhatIsSentAndWritten(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        int unit = nodes.requester().device().capabilities().maxTransferUnit();
        for (Endpoint[] way :
                new Endpoint[][] {{pair.requester(), pair.responder()}, {pair.responder(), pair.requester()}}) {
            MemoryRegion source = way[0].node().region(BYTES);
            MemoryRegion target = way[1].node().region(BYTES, WRITABLE);
            for (int length : new int[] {0, 1, 7, unit, unit + 1, 3 * unit, BYTES}) {
                BytePattern pattern = nodes.pattern();
                pattern.fill(source.memory());
                target.memory().fill(BytePattern.POISON);
                way[1].receive(1, target, 0, BYTES);
                way[0].send(2, source, 0, length);
                way[0].sends().expect(2, CompletionOpcode.SEND, 0);
                Completion received = way[1].receives().expect(1, CompletionOpcode.RECEIVE, length);
                assertEquals(OptionalInt.empty(), received.source(), "a connection says nothing of the source");
                pattern.require(target.memory().asSlice(0, length), "SEND of " + length + " bytes");
                BytePattern.requireAll(target.memory().asSlice(length), BytePattern.POISON, "behind the SEND");
                target.memory().fill(BytePattern.POISON);
                way[0].write(3, source, 0, length, target.address(), target.rkey());
                way[0].sends().expect(3, CompletionOpcode.WRITE, 0);
                written(nodes, pattern, target, length);
            }
        }
    }

    /** No completion tells of a WRITE. */
    private static void written(TwoNodes nodes, BytePattern pattern, MemoryRegion target, int length) {
        nodes.await(
                "a WRITE of " + length + " bytes",
                () -> pattern.matches(target.memory().asSlice(0, length)));
        BytePattern.requireAll(target.memory().asSlice(length), BytePattern.POISON, "behind the WRITE");
    }

    @Test
    @ConformanceCase(
            number = 401,
            title = "immediates of an unreliable connection arrive behind the bytes they came with",
            source = "ibv_post_send(3) IBV_WR_RDMA_WRITE_WITH_IMM; IBTA 9.8.2")
    void shouldDeliverImmediates(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        MemoryRegion source = nodes.requester().region(BYTES);
        MemoryRegion target = nodes.responder().region(BYTES, WRITABLE);
        for (int length : new int[] {0, 1, 5000, BYTES}) {
            BytePattern pattern = nodes.pattern();
            pattern.fill(source.memory());
            target.memory().fill(BytePattern.POISON);
            pair.responder().receive(1, target, 0, 0);
            pair.requester().writeImmediate(2, source, length, target.address(), target.rkey(), ~length);
            pair.requester().sends().expect(2, CompletionOpcode.WRITE, 0);
            Completion told = pair.responder().receives().expect(1, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, length);
            assertEquals(OptionalInt.of(~length), told.immediate());
            pattern.require(target.memory().asSlice(0, length), "WRITE with an immediate");
            pair.responder().receive(3, target, 0, BYTES);
            Endpoint.require(
                    pair.requester().queuePair().postSendImmediate(4, source, 0, length, length, SendFlags.SIGNALLED),
                    "SEND with an immediate");
            pair.requester().sends().expect(4, CompletionOpcode.SEND, 0);
            assertEquals(
                    OptionalInt.of(length),
                    pair.responder()
                            .receives()
                            .expect(3, CompletionOpcode.RECEIVE, length)
                            .immediate());
        }
    }

    @Test
    @ConformanceCase(
            number = 402,
            title = "what the peer of an unreliable connection refuses succeeds, changes nothing, and is forgotten",
            source = "IBTA 9.8.2.2.2 (class D: the message is dropped); rdma-unit-test UcQpTest.InvalidRkey")
    void shouldLoseWhatThePeerRefuses(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        MemoryRegion source = nodes.requester().region(BYTES, nodes.pattern());
        MemoryRegion target = nodes.responder().region(BYTES, WRITABLE);
        MemoryRegion readOnly = nodes.responder().register(target.memory(), AccessFlag.REMOTE_READ);
        target.memory().fill(BytePattern.POISON);
        pair.requester().write(1, source, 0, 8, target.address(), BAD_KEY);
        pair.requester().write(2, source, 0, 8, target.address(), readOnly.rkey());
        pair.requester().write(3, source, 0, 8, target.address() + BYTES - 7, target.rkey());
        for (int i = 1; i <= 3; i++) {
            pair.requester().sends().expect(i, CompletionOpcode.WRITE, 0);
        }
        expectWorking(nodes, pair);
        BytePattern.requireAll(target.memory(), BytePattern.POISON, "target of refused WRITEs");
        assertEquals(QueuePairState.READY_TO_SEND, pair.requester().queuePair().state());
        assertEquals(QueuePairState.READY_TO_SEND, pair.responder().queuePair().state());
        assertEquals(
                Set.of(), pair.requester().queuePair().connectionCapabilities().features());
    }

    @Test
    @ConformanceCase(
            number = 403,
            title = "a SEND that finds no RECV is lost on an unreliable connection",
            source = "IBTA 9.8.2.2.2; rdma-unit-test UcQpTest.SendRnr")
    void shouldLoseASendThatFindsNoReceive(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        MemoryRegion source = nodes.requester().region(BYTES);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        boolean lost = false;
        for (int attempt = 1; attempt <= ATTEMPTS && !lost; attempt++) {
            pair.requester().send(1, source, 0, 1);
            pair.requester().sends().expect(1, CompletionOpcode.SEND, 0);
            nodes.linger(attempt * WAIT_NS); // the network may be slow
            pair.responder().receive(2, inbox, 0, BYTES);
            pair.requester().send(3, source, 0, 2);
            pair.requester().sends().expect(3, CompletionOpcode.SEND, 0);
            Completion first = pair.responder().receives().next("a SEND");
            assertTrue(first.isSuccess(), first::toString);
            lost = first.byteLength() == 2;
        }
        assertTrue(lost, "a SEND without a RECV was kept until there was one, " + ATTEMPTS + " times");
    }

    @Test
    @ConformanceCase(
            number = 404,
            title = "a SEND longer than its RECV is lost on an unreliable connection, and the RECV takes the next one",
            source = "IBTA 9.8.2.2.2")
    void shouldLoseASendThatIsTooLongForItsReceive(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        pair.responder().receive(1, inbox, 0, 7);
        pair.requester().send(2, source, 0, 8);
        pair.requester().sends().expect(2, CompletionOpcode.SEND, 0);
        pair.requester().send(3, source, 0, 7);
        pair.requester().sends().expect(3, CompletionOpcode.SEND, 0);
        pair.responder().receives().expect(1, CompletionOpcode.RECEIVE, 7);
        pattern.require(inbox.memory().asSlice(0, 7), "the SEND that fits");
        expectWorking(nodes, pair);
    }

    @Test
    @ConformanceCase(
            number = 405,
            title = "READs, atomics and fences are refused on an unreliable connection, and nothing is posted",
            source = "rdma-unit-test UcQpTest.Read, FetchAdd; ibv_post_send(3)")
    void shouldRefuseWhatNeedsAnAnswer(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        QueuePair queuePair = pair.requester().queuePair();
        MemoryRegion region = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        int none = SendFlags.NONE;
        assertThrows(
                IllegalArgumentException.class,
                () -> queuePair.postRead(1, region, 0, 8, target.address(), target.rkey(), none));
        if (nodes.requester().device().capabilities().has(Feature.ATOMICS)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> queuePair.postFetchAndAdd(1, region, 0, target.address(), target.rkey(), 1, none));
        }
        assertThrows(IllegalArgumentException.class, () -> queuePair.postSend(1, region, 0, 8, SendFlags.FENCE));
        expectWorking(nodes, pair);
    }

    @Test
    @ConformanceCase(
            number = 406,
            title = "one end of an unreliable connection that ends flushes, and the other never hears of it",
            source = "IBTA 10.3.1.5, 9.8.2")
    void shouldNotTellThePeerWhenItEnds(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        MemoryRegion source = nodes.requester().region(BYTES);
        pair.requester().receive(1, nodes.requester().region(8, AccessFlag.RECEIVE_SINK), 0, 8);
        pair.requester().queuePair().disconnect();
        pair.requester().awaitError();
        pair.requester().receives().expect(1, Set.of(CompletionStatus.FLUSHED), "a RECV of a queue pair in ERROR");
        pair.requester().send(2, source, 0, 8);
        pair.requester().sends().expect(2, Set.of(CompletionStatus.FLUSHED), "a SEND posted in ERROR");
        MemoryRegion here = nodes.responder().region(8);
        pair.responder().send(3, here, 0, 8);
        pair.responder().sends().expect(3, CompletionOpcode.SEND, 0);
        assertEquals(QueuePairState.READY_TO_SEND, pair.responder().queuePair().state());
    }

    @Test
    @ConformanceCase(
            number = 407,
            title = "inline WRITEs of an unreliable connection are seen by who polls the memory, mostly unsignalled",
            source = "HERD (SIGCOMM 2014), section 4: requests are WRITEs over UC")
    void shouldShowInlineWritesToWhoPollsMemory(TwoNodes nodes) {
        LoopbackPair pair = connect(nodes);
        int signalEvery = 16;
        MemoryRegion source = nodes.requester().region(INLINE);
        MemoryRegion target = nodes.responder().region(INLINE, WRITABLE);
        int rounds = nodes.times(400);
        for (int i = 0; i < rounds; i++) {
            BytePattern pattern = nodes.pattern();
            pattern.fill(source.memory());
            boolean signalled = i % signalEvery == signalEvery - 1;
            Endpoint.require(
                    pair.requester()
                            .queuePair()
                            .postWrite(
                                    i,
                                    source,
                                    0,
                                    INLINE,
                                    target.address(),
                                    target.rkey(),
                                    SendFlags.INLINE | (signalled ? SendFlags.SIGNALLED : SendFlags.NONE)),
                    "an inline WRITE");
            source.memory().fill(BytePattern.POISON);
            nodes.await("an inline WRITE", () -> pattern.matches(target.memory()));
            if (signalled) {
                pair.requester().sends().expect(i, CompletionOpcode.WRITE, 0);
            }
        }
    }

    private static void expectWorking(TwoNodes nodes, LoopbackPair pair) {
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(8, pattern);
        MemoryRegion inbox = nodes.responder().region(8, AccessFlag.RECEIVE_SINK);
        pair.responder().receive(1001, inbox, 0, 8);
        pair.requester().send(1002, source, 0, 8);
        pair.requester().sends().expect(1002, CompletionOpcode.SEND, 0);
        pair.responder().receives().expect(1001, CompletionOpcode.RECEIVE, 8);
        pattern.require(inbox.memory(), "a SEND behind all others");
    }
}
