package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;

/** Immediates: they arrive as they were given, consume a RECV, and tell that the WRITE they came with is there. */
@ExtendWith(TwoNodesExtension.class)
public final class ImmediateCases {
    private static final int BYTES = 256;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final long WAIT_NS = 20_000_000;
    private static final int[] IMMEDIATES = {0x01020304, 0, -1, Integer.MIN_VALUE, 0xFF};

    private static final AccessFlag[] WRITABLE = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE};

    /** Made by JUnit. */
    public ImmediateCases() {}

    private static void expectImmediate(Completion completion, int immediate) {
        assertEquals(OptionalInt.of(immediate), completion.immediate(), completion::toString);
        assertEquals(OptionalInt.empty(), completion.invalidatedKey(), completion::toString);
    }

    private static void expectPlain(Completion completion) {
        assertEquals(OptionalInt.empty(), completion.immediate(), completion::toString);
        assertEquals(OptionalInt.empty(), completion.invalidatedKey(), completion::toString);
    }

    @Test
    @ConformanceCase(
            number = 113,
            title = "the immediate of a SEND arrives with its bytes as it was given, and only with that SEND",
            source = "rdma-unit-test RcQpTest.BasicSendWithImm; ibv_post_send(3) IBV_WR_SEND_WITH_IMM")
    void shouldDeliverTheImmediateOfASend(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.SEND_IMMEDIATE);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        LoopbackPair pair = nodes.connect();
        for (int immediate : IMMEDIATES) {
            for (int length : new int[] {BYTES, 1, 0}) {
                inbox.memory().fill(BytePattern.POISON);
                pair.responder().receive(1, inbox, 0, BYTES);
                pair.responder().receive(2, inbox, 0, 0);
                Endpoint.require(
                        pair.requester()
                                .queuePair()
                                .postSendImmediate(3, source, 0, length, immediate, SendFlags.SIGNALLED),
                        "SEND_IMMEDIATE");
                pair.requester().send(4, source, 0, 0);
                pair.requester().sends().expect(3, CompletionOpcode.SEND, length);
                pair.requester().sends().expect(4, CompletionOpcode.SEND, 0);
                expectImmediate(pair.responder().receives().expect(1, CompletionOpcode.RECEIVE, length), immediate);
                expectPlain(pair.responder().receives().expect(2, CompletionOpcode.RECEIVE, 0));
                pattern.require(inbox.memory().asSlice(0, length), "SEND with an immediate");
                BytePattern.requireAll(inbox.memory().asSlice(length), BytePattern.POISON, "behind the message");
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 119,
            title = "WRITE with immediate consumes one RECV, leaves its buffer alone and tells the bytes written",
            source = "rdma-unit-test RcQpTest.WriteWithImmediate; RFC 7306 section 6; ibv_poll_cq(3) byte_len")
    void shouldConsumeOneReceiveAndLeaveItsBufferAlone(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.WRITE_IMMEDIATE);
        MemoryRegion source = nodes.requester().region(BYTES);
        MemoryRegion target = nodes.responder().region(BYTES, WRITABLE);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        inbox.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        int number = 0;
        for (int immediate : IMMEDIATES) {
            for (int length : new int[] {BYTES, 1, 7, 0}) {
                BytePattern pattern = nodes.pattern();
                pattern.fill(source.memory());
                target.memory().fill(BytePattern.POISON);
                pair.responder().receive(++number, inbox, 0, number % 2 == 0 ? BYTES : 0);
                pair.requester()
                        .writeImmediate(
                                number,
                                source,
                                length,
                                length == 0 ? 0 : target.address(),
                                length == 0 ? BAD_KEY : target.rkey(),
                                immediate);
                pair.requester().sends().expect(number, CompletionOpcode.WRITE, length);
                expectImmediate(
                        pair.responder().receives().expect(number, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, length),
                        immediate);
                pattern.require(target.memory().asSlice(0, length), "WRITE with an immediate");
                BytePattern.requireAll(target.memory().asSlice(length), BytePattern.POISON, "behind the WRITE");
            }
        }
        BytePattern.requireAll(inbox.memory(), BytePattern.POISON, "buffers of the RECVs");
        pair.responder().sends().expectNone("a WRITE completes at the requester only");
    }

    @Test
    @ConformanceCase(
            number = 120,
            title = "WRITE with immediate by a bad key changes nothing and its RECV does not succeed",
            source = "rdma-unit-test RcQpTest.WriteWithImmInvalidRKey; RFC 7306 section 6; IBTA 9.9.6.3")
    void shouldRefuseWriteWithImmediateWhenItsKeyIsBad(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.WRITE_IMMEDIATE);
        MemoryRegion source = nodes.requester().region(BYTES, nodes.pattern());
        MemoryRegion target = nodes.responder().region(BYTES, WRITABLE);
        MemoryRegion readOnly = nodes.responder().register(target.memory(), AccessFlag.REMOTE_READ);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        target.memory().fill(BytePattern.POISON);
        inbox.memory().fill(BytePattern.POISON);
        for (int key : new int[] {BAD_KEY, readOnly.rkey()}) {
            LoopbackPair pair = nodes.connect();
            pair.responder().receive(7, inbox, 0, BYTES);
            pair.requester().writeImmediate(1, source, BYTES, target.address(), key, 5);
            pair.requester().sends().expect(1, nodes.traits().writeRefused(), "WRITE with immediate by a bad key");
            pair.responder()
                    .receives()
                    .expect(
                            7,
                            nodes.traits().features().receiveOfRefusedWrite(),
                            "the RECV of a refused WRITE with immediate");
            pair.expectBothBroken();
            BytePattern.requireAll(target.memory(), BytePattern.POISON, "target of the refused WRITE");
            BytePattern.requireAll(inbox.memory(), BytePattern.POISON, "the RECV's buffer");
        }
    }

    @Test
    @ConformanceCase(
            number = 358,
            title = "an immediate that finds no RECV waits for one, or ends its connection and no other",
            source =
                    "rdma-unit-test RcQpTest.WriteWithImmRnr; RFC 7306 section 6 (queue 0); ibv_modify_qp(3) rnr_retry")
    void shouldWaitOrEndWhenTheImmediateFindsNoReceive(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.WRITE_IMMEDIATE);
        MemoryRegion source = nodes.requester().region(BYTES, nodes.pattern());
        MemoryRegion target = nodes.responder().region(BYTES, WRITABLE);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        LoopbackPair other = nodes.connect();
        LoopbackPair pair = nodes.connect();
        pair.requester().writeImmediate(1, source, BYTES, target.address(), target.rkey(), 5);
        if (nodes.traits().has(Trait.RECEIVER_NOT_READY)) {
            nodes.linger(WAIT_NS);
            pair.requester().sends().expectNone("there is no RECV yet");
            pair.responder().receive(2, inbox, 0, 0);
            pair.requester().sends().expect(1, CompletionOpcode.WRITE, BYTES);
            expectImmediate(pair.responder().receives().expect(2, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, BYTES), 5);
        } else {
            pair.requester().sends().expect(1, nodes.traits().sendRefused(), "an immediate without a RECV");
            pair.expectBothBroken();
        }
        assertEquals(QueuePairState.READY_TO_SEND, other.requester().queuePair().state());
        other.barrier();
    }

    @Test
    @ConformanceCase(
            number = 359,
            title = "who takes an immediate sees every byte of its WRITE and of the WRITEs before it",
            source = "RFC 7306 section 6 and figure 3 (ordering); RFC 5040 section 5.5; IBTA 9.5")
    void shouldHavePlacedTheWriteWhenItsImmediateIsTaken(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.WRITE_IMMEDIATE);
        int longest = 8 << 10;
        int inFlight = 16;
        int place = 2 * longest;
        int rounds = nodes.times(5000);
        MemoryRegion source = nodes.requester().region((long) inFlight * place);
        MemoryRegion target = nodes.responder().region((long) inFlight * place, WRITABLE);
        MemoryRegion inbox = nodes.responder().region(1, AccessFlag.RECEIVE_SINK);
        LoopbackPair pair = nodes.connect();
        BytePattern[] patterns = new BytePattern[inFlight];
        int[] lengths = new int[inFlight];
        for (int posted = 0, taken = 0; taken < rounds; taken++) {
            for (; posted < rounds && posted < taken + inFlight; posted++) {
                int slot = posted % inFlight;
                patterns[slot] = nodes.pattern();
                lengths[slot] = 1 + nodes.random().nextInt(posted % 8 == 0 ? longest : 64);
                pair.responder().receive(posted, inbox, 0, 0);
                post(pair, source, target, (long) slot * place, lengths[slot], patterns[slot], posted);
            }
            int slot = taken % inFlight;
            Completion received =
                    pair.responder().receives().expect(taken, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, lengths[slot]);
            expectImmediate(received, ~taken);
            MemorySegment placed = target.memory().asSlice((long) slot * place, 2L * lengths[slot]);
            patterns[slot].require(placed, "WRITEs before immediate " + taken);
            pair.requester().sends().expect(taken, CompletionOpcode.WRITE, lengths[slot]);
        }
    }

    /** A plain WRITE of one half and a WRITE with immediate of the other. */
    private static void post(
            LoopbackPair pair,
            MemoryRegion source,
            MemoryRegion target,
            long offset,
            int half,
            BytePattern pattern,
            int number) {
        pattern.fill(source.memory().asSlice(offset, 2L * half));
        Endpoint.require(
                pair.requester()
                        .queuePair()
                        .postWrite(
                                number, source, offset, half, target.address() + offset, target.rkey(), SendFlags.NONE),
                "WRITE");
        Endpoint.require(
                pair.requester()
                        .queuePair()
                        .postWriteImmediate(
                                number,
                                source,
                                offset + half,
                                half,
                                target.address() + offset + half,
                                target.rkey(),
                                ~number,
                                SendFlags.SIGNALLED),
                "WRITE_IMMEDIATE");
    }

    @Test
    @ConformanceCase(
            number = 360,
            title = "SENDs and WRITEs with immediate consume RECVs in the order in which they were posted",
            source = "RFC 7306 section 6 (queue 0 is shared with SEND); ibv_post_recv(3)")
    void shouldConsumeReceivesInOrderWhenMessagesAreMixed(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.WRITE_IMMEDIATE);
        int count = 32;
        MemoryRegion source = nodes.requester().region(count);
        MemoryRegion target = nodes.responder().region(count, WRITABLE);
        MemoryRegion inbox = nodes.responder().region(count, AccessFlag.RECEIVE_SINK);
        LoopbackPair pair = nodes.connect();
        for (int round = 0; round < nodes.times(50); round++) {
            boolean[] send = new boolean[count];
            inbox.memory().fill(BytePattern.POISON);
            for (int i = 0; i < count; i++) {
                pair.responder().receive(i, inbox, i, 1);
            }
            source.memory().fill((byte) round);
            for (int i = 0; i < count; i++) {
                send[i] = nodes.random().nextBoolean();
                if (send[i]) {
                    pair.requester().send(i, source, i, 1);
                } else {
                    pair.requester().writeImmediate(i, source, i, target.address(), target.rkey(), i * i);
                }
            }
            for (int i = 0; i < count; i++) {
                if (send[i]) {
                    expectPlain(pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, 1));
                } else {
                    expectImmediate(
                            pair.responder().receives().expect(i, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, i), i * i);
                }
                byte expected = send[i] ? (byte) round : BytePattern.POISON;
                BytePattern.requireAll(inbox.memory().asSlice(i, 1), expected, "the buffer of RECV " + i);
                pair.requester().sends().expect(i, send[i] ? CompletionOpcode.SEND : CompletionOpcode.WRITE, 0);
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 361,
            title = "inline bytes of a WRITE with immediate are taken when it is posted",
            source = "ibv_post_send(3) IBV_SEND_INLINE; rdma-unit-test RcQpTest.WriteInlineData")
    void shouldTakeInlineBytesWhenPosted(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.WRITE_IMMEDIATE);
        int length = Math.min(nodes.requester().device().capabilities().maxInline(), BYTES);
        nodes.require(length > 0, "no inline data");
        LoopbackPair pair =
                nodes.connect(new ConnectionSpec().requesterLimits(new QueuePairLimits(16, 16, 1, 1, length)));
        MemoryRegion source = nodes.requester().region(length);
        MemoryRegion target = nodes.responder().region(length, WRITABLE);
        for (int round = 0; round < nodes.times(50); round++) {
            BytePattern pattern = nodes.pattern();
            pattern.fill(source.memory());
            pair.responder().receive(round, target, 0, 0);
            Endpoint.require(
                    pair.requester()
                            .queuePair()
                            .postWriteImmediate(
                                    round,
                                    source,
                                    0,
                                    length,
                                    target.address(),
                                    target.rkey(),
                                    round,
                                    SendFlags.INLINE | SendFlags.SIGNALLED),
                    "inline WRITE_IMMEDIATE");
            source.memory().fill(BytePattern.POISON);
            pair.requester().sends().expect(round, CompletionOpcode.WRITE, length);
            expectImmediate(
                    pair.responder().receives().expect(round, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, length), round);
            pattern.require(target.memory(), "inline WRITE with an immediate");
        }
    }
}
