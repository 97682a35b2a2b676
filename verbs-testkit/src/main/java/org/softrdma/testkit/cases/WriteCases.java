package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** WRITE: its bytes, its order before a SEND, and the effect of a refused one on its queue pair and on no other. */
@ExtendWith(TwoNodesExtension.class)
public final class WriteCases {
    private static final int BYTES = 256;
    private static final int MARGIN = 64;
    private static final int BAD_KEY = 0xDEADBEEF;

    /** Made by JUnit. */
    public WriteCases() {}

    @Test
    @ConformanceCase(
            number = 116,
            title = "when the RECV of a SEND completes, every WRITE before it is there",
            source = "RFC 5040 section 5.5; IBTA 9.5 (ordering); rdma-unit-test traffic simple_rdma")
    void shouldHavePlacedEarlierWritesWhenAReceiveCompletes(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        int length = 8 << 10;
        MemoryRegion source = nodes.requester().region(length);
        MemoryRegion target = nodes.responder().region(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        MemoryRegion inbox = nodes.responder().region(8, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < nodes.times(5000); i++) {
            BytePattern pattern = nodes.pattern();
            int bytes = 1 + nodes.random().nextInt(length);
            MemorySegment sent = source.memory().asSlice(0, bytes);
            pattern.fill(sent);
            pair.responder().receive(i, inbox, 0, 8);
            Endpoint.require(
                    pair.requester()
                            .queuePair()
                            .postWrite(1, source, 0, bytes, target.address(), target.rkey(), SendFlags.NONE),
                    "WRITE");
            pair.requester().send(2, source, 0, 1);
            pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, 1);
            pattern.require(target.memory().asSlice(0, bytes), "WRITE before message " + i);
            pair.requester().sends().expect(2, CompletionOpcode.SEND, 1);
        }
        pair.responder().sends().expectNone("a WRITE completes at the requester only");
    }

    @Test
    @ConformanceCase(
            number = 117,
            title = "WRITE with a bad key changes nothing; with a bad local key too, the local error comes first",
            source = "rdma-unit-test RcQpTest.WriteInvalidRKey, WriteInvalidRKeyAndInvalidLKey; RFC 5040 section 5.3")
    void shouldRefuseWriteWhenKeysAreBad(TwoNodes nodes) {
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        target.memory().fill(BytePattern.POISON);
        Refusals.expectWriteRefused(
                nodes, nodes.connect(), target.address(), BAD_KEY, BYTES, target.memory(), "WRITE by a bad rkey");
        if (target.lkey() != target.rkey()) {
            Refusals.expectWriteRefused(
                    nodes,
                    nodes.connect(),
                    target.address(),
                    target.lkey(),
                    BYTES,
                    target.memory(),
                    "WRITE by the peer's lkey");
        }
        LoopbackPair pair = nodes.connect();
        SendWorkRequest request = new SendWorkRequest()
                .write(1, target.address(), BAD_KEY, SendFlags.SIGNALLED)
                .add(0, BYTES, BAD_KEY);
        Endpoint.require(pair.requester().queuePair().post(request), "WRITE");
        Refusals.expectLocalError(nodes, pair, nodes.traits().badSource(), "WRITE by a bad lkey and a bad rkey");
        BytePattern.requireAll(target.memory(), BytePattern.POISON, "target");
    }

    @Test
    @ConformanceCase(
            number = 118,
            title = "after the first fatal error the rest is flushed, and other queue pairs keep working",
            source = "rdma-unit-test RcQpTest.RemoteFatalError; IBTA 10.3.1.5")
    void shouldLeaveOtherQueuePairsAloneWhenOneFails(TwoNodes nodes) {
        MemoryRegion source = nodes.requester().region(BYTES, nodes.pattern());
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        List<LoopbackPair> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            others.add(nodes.connect());
        }
        LoopbackPair pair = nodes.connect();
        pair.responder().receive(7, target, 0, BYTES);
        pair.requester().receive(8, nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK), 0, BYTES);
        pair.requester().write(1, source, 0, BYTES, target.address(), BAD_KEY);
        pair.requester().sends().expect(1, nodes.traits().writeRefused(), "WRITE with a bad key");
        pair.requester().awaitError();
        for (int i = 2; i < 6; i++) {
            pair.requester().write(i, source, target);
            pair.requester().sends().expect(i, Set.of(CompletionStatus.FLUSHED), "WRITE after the error");
        }
        pair.responder().receives().expect(7, Set.of(CompletionStatus.FLUSHED), "the responder's RECV");
        pair.requester().receives().expect(8, Set.of(CompletionStatus.FLUSHED), "the requester's RECV");
        pair.expectBothBroken();
        BytePattern.requireAll(target.memory(), (byte) 0, "target");
        for (LoopbackPair other : others) {
            assertEquals(
                    QueuePairState.READY_TO_SEND, other.requester().queuePair().state());
            assertEquals(
                    QueuePairState.READY_TO_SEND, other.responder().queuePair().state());
            other.requester().write(9, source, target);
            other.requester().sends().expect(9, CompletionOpcode.WRITE, BYTES);
            other.barrier();
        }
    }

    @Test
    @ConformanceCase(
            number = 290,
            title = "WRITE of one byte to 256 KiB at odd addresses: exactly its bytes change",
            source = "rdma-unit-test traffic simple_rdma; RFC 5041 section 5.1")
    void shouldChangeExactlyItsBytesWhenWriting(TwoNodes nodes) {
        int longest = 256 << 10;
        LoopbackPair pair = nodes.connect();
        MemoryRegion target =
                nodes.responder().region(longest + 2L * MARGIN, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        for (int length : new int[] {1, 2, 3, 5, 8, 1000, 1460, 4097, 65_519, 65_520, 65_532, longest}) {
            int skip = 1 + nodes.random().nextInt(MARGIN - 1);
            BytePattern pattern = nodes.pattern();
            MemoryRegion source = nodes.requester().region(length, pattern);
            target.memory().fill(BytePattern.POISON);
            pair.requester().write(length, source, 0, length, target.address() + skip, target.rkey());
            pair.requester().sends().expect(length, CompletionOpcode.WRITE, length);
            pair.barrier();
            String what = "WRITE of " + length + " bytes";
            BytePattern.requireAll(target.memory().asSlice(0, skip), BytePattern.POISON, "before a " + what);
            pattern.require(target.memory().asSlice(skip, length), what);
            BytePattern.requireAll(
                    target.memory().asSlice((long) skip + length), BytePattern.POISON, "behind a " + what);
        }
    }

    @Test
    @ConformanceCase(
            number = 291,
            title = "WRITEs to one place take effect in the order in which they were posted",
            source = "RFC 5040 section 5.5; IBTA 9.5")
    void shouldLeaveTheLastWhenManyAreWrittenToOnePlace(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        int count = 64;
        MemoryRegion source = nodes.requester().region((long) count * BYTES);
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        for (int round = 0; round < nodes.times(100); round++) {
            BytePattern last = nodes.pattern();
            nodes.pattern().fill(source.memory());
            last.fill(source.memory().asSlice((count - 1L) * BYTES, BYTES));
            for (int i = 0; i < count; i++) {
                pair.requester().write(i, source, (long) i * BYTES, BYTES, target.address(), target.rkey());
            }
            for (int i = 0; i < count; i++) {
                pair.requester().sends().expect(i, CompletionOpcode.WRITE, BYTES);
            }
            pair.barrier();
            last.require(target.memory(), "the last of " + count + " WRITEs in round " + round);
        }
    }

    @Test
    @ConformanceCase(
            number = 292,
            title = "a WRITE of several pieces in the middle of which the region ends changes no byte outside it",
            source = "RFC 5041 section 5.1 (each segment is checked before it is placed)")
    void shouldWriteNothingOutsideWhenALongWriteOverruns(TwoNodes nodes) {
        int inside = 100_000;
        int length = 1 << 20;
        MemorySegment memory = nodes.responder().memory(length);
        memory.fill(BytePattern.POISON);
        MemoryRegion target =
                nodes.responder().register(memory.asSlice(0, inside), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        Refusals.expectWriteRefused(
                nodes,
                nodes.connect(),
                target.address(),
                target.rkey(),
                length,
                memory.asSlice(inside),
                "WRITE of 1 MiB to a region of 100000 bytes");
    }
}
