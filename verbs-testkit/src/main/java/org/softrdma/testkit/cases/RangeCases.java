package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.List;
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
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/**
 * Which bytes a request may access: those up to the borders of a region and not one further; none at all; very many.
 */
@ExtendWith(TwoNodesExtension.class)
public final class RangeCases {
    private static final int MARGIN = 64;
    private static final int BYTES = 1024;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final long LARGE = 64L << 20;

    /** Made by JUnit. */
    public RangeCases() {}

    /** A part of remote memory that is not inside the region of {@link #BYTES} bytes. */
    private record Outside(String name, long offset, long length) {
        static final List<Outside> ALL = List.of(
                new Outside("one byte before the region", -1, 1),
                new Outside("from one byte before into the region", -1, BYTES),
                new Outside("one byte past the region", BYTES, 1),
                new Outside("the whole region and one byte more", 0, BYTES + 1),
                new Outside("from the last byte to one past it", BYTES - 1, 2));
    }

    @Test
    @ConformanceCase(
            number = 45,
            title = "READ of one byte before or past a region is refused",
            source = "rdma-unit-test BufferMrTest.ReadExceedFront, ReadExceedRear; RFC 5040 section 5.3")
    void shouldRefuseReadWhenOutsideTheRegion(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES + 2 * MARGIN);
        MemoryRegion region = nodes.responder().register(memory.asSlice(MARGIN, BYTES), AccessFlag.REMOTE_READ);
        for (Outside outside : Outside.ALL) {
            Refusals.expectReadRefused(
                    nodes,
                    nodes.connect(),
                    region.address() + outside.offset,
                    region.rkey(),
                    outside.length,
                    "READ of " + outside.name);
        }
    }

    @Test
    @ConformanceCase(
            number = 46,
            title = "WRITE of one byte before or past a region changes no byte anywhere",
            source = "rdma-unit-test BufferMrTest.WriteExceedFront, WriteExceedRear; RFC 5041 section 5.1")
    void shouldRefuseWriteWhenOutsideTheRegion(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES + 2 * MARGIN);
        memory.fill(BytePattern.POISON);
        MemoryRegion region = nodes.responder()
                .register(memory.asSlice(MARGIN, BYTES), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        for (Outside outside : Outside.ALL) {
            Refusals.expectWriteRefused(
                    nodes,
                    nodes.connect(),
                    region.address() + outside.offset,
                    region.rkey(),
                    outside.length,
                    memory,
                    "WRITE of " + outside.name);
        }
    }

    @Test
    @ConformanceCase(
            number = 47,
            title = "READ and WRITE whose address and length wrap around are refused",
            source = "RFC 5040 section 8.1.1, RFC 5041 section 8.2 (TO wrap)")
    void shouldRefuseWhenAddressWraps(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES);
        memory.fill(BytePattern.POISON);
        MemoryRegion region = nodes.responder()
                .register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        for (long address : new long[] {-1, -8, -BYTES}) {
            String what = "from address 0x" + Long.toHexString(address);
            Refusals.expectReadRefused(nodes, nodes.connect(), address, region.rkey(), BYTES, "READ " + what);
            Refusals.expectWriteRefused(nodes, nodes.connect(), address, region.rkey(), BYTES, memory, "WRITE " + what);
        }
    }

    @Test
    @ConformanceCase(
            number = 48,
            title = "a local entry one byte past its region fails at the requester and moves nothing",
            source = "ibv_post_send(3); IBTA 10.7.2.2 (local protection error)")
    void shouldFailLocallyWhenLocalEntryExceedsItsRegion(TwoNodes nodes) {
        MemorySegment memory = nodes.requester().memory(BYTES + 2 * MARGIN);
        memory.fill(BytePattern.POISON);
        MemoryRegion local = nodes.requester().register(memory.asSlice(MARGIN, BYTES), AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(2 * BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        LoopbackPair sending = nodes.connect();
        sending.requester().send(1, local, 1, BYTES);
        Refusals.expectLocalError(nodes, sending, nodes.traits().badSource(), "SEND past the region");
        LoopbackPair writing = nodes.connect();
        writing.requester().write(1, local, 0, BYTES + 1, remote.address(), remote.rkey());
        Refusals.expectLocalError(nodes, writing, nodes.traits().badSource(), "WRITE past the region");
        BytePattern.requireAll(remote.memory(), (byte) 0, "target of the WRITE");
        LoopbackPair reading = nodes.connect();
        reading.requester().read(1, local, BYTES - 1, 2, remote.address(), remote.rkey());
        Refusals.expectLocalError(nodes, reading, nodes.traits().badReadSink(), "READ past the region");
        LoopbackPair before = nodes.connect();
        SendWorkRequest request = new SendWorkRequest()
                .read(1, remote.address(), remote.rkey(), SendFlags.SIGNALLED)
                .add(local.address() - 1, 2, local.lkey());
        Endpoint.require(before.requester().queuePair().post(request), "READ");
        Refusals.expectLocalError(nodes, before, nodes.traits().badReadSink(), "READ before the region");
        BytePattern.requireAll(memory, BytePattern.POISON, "memory around the sinks");
    }

    @Test
    @ConformanceCase(
            number = 49,
            title = "SEND of zero bytes, with an entry of length 0 and without any entry",
            source = "rdma-unit-test RcQpTest.SendZeroSize, SendZeroSge; ibv_post_send(3)")
    void shouldDeliverEmptyMessageWhenZeroBytesAreSent(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion source = nodes.requester().region(BYTES);
        inbox.memory().fill(BytePattern.POISON);
        pair.responder().receive(1, inbox, 0, BYTES);
        pair.responder().receive(2, inbox, 0, BYTES);
        Endpoint.require(
                pair.responder().queuePair().post(new ReceiveWorkRequest().receive(3)), "RECV without entries");
        pair.requester().send(4, source, 0, 0);
        for (int wrId = 5; wrId <= 6; wrId++) {
            SendWorkRequest empty = new SendWorkRequest().send(wrId, SendFlags.SIGNALLED);
            Endpoint.require(pair.requester().queuePair().post(empty), "SEND without entries");
        }
        for (int i = 0; i < 3; i++) {
            pair.requester().sends().expect(4 + i, CompletionOpcode.SEND, 0);
            pair.responder().receives().expect(1 + i, CompletionOpcode.RECEIVE, 0);
        }
        BytePattern.requireAll(inbox.memory(), BytePattern.POISON, "buffer of an empty message");
    }

    @Test
    @ConformanceCase(
            number = 50,
            title = "READ and WRITE of zero bytes succeed inside a region, outside it, and with any key",
            source = "rdma-unit-test BufferMrTest.ReadZeroByte, WriteZeroByteOutsideRange; RFC 5041 section 4.1")
    void shouldSucceedWhenZeroBytesAreReadOrWritten(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        MemoryRegion local = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        long[] addresses = {remote.address(), remote.address() + BYTES, remote.address() - 1, 0, -1};
        for (int rkey : new int[] {remote.rkey(), BAD_KEY}) {
            for (long address : addresses) {
                pair.requester().read(1, local, 0, 0, address, rkey);
                pair.requester().write(2, local, 0, 0, address, rkey);
                pair.requester().sends().expect(1, CompletionOpcode.READ, 0);
                pair.requester().sends().expect(2, CompletionOpcode.WRITE, 0);
            }
        }
        SendWorkRequest noEntry = new SendWorkRequest().write(3, remote.address(), BAD_KEY, SendFlags.SIGNALLED);
        Endpoint.require(pair.requester().queuePair().post(noEntry), "WRITE without entries");
        pair.requester().sends().expect(3, CompletionOpcode.WRITE, 0);
        pair.barrier();
        BytePattern.requireAll(local.memory(), (byte) 0, "local memory");
        BytePattern.requireAll(remote.memory(), (byte) 0, "remote memory");
    }

    @Test
    @ConformanceCase(
            number = 51,
            title = "a message fits the region of a RECV whose entry claims more",
            source = "rdma-unit-test BufferMrTest.RecvBufferExceedMr: success and a protection error are both lawful")
    void shouldReceiveOrFailCleanlyWhenReceiveEntryExceedsItsRegion(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES + MARGIN);
        memory.fill(BytePattern.POISON);
        MemoryRegion inbox = nodes.responder().register(memory.asSlice(0, BYTES), AccessFlag.RECEIVE_SINK);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES / 2, pattern);
        LoopbackPair pair = nodes.connect();
        pair.responder().receive(1, inbox, 0, BYTES + MARGIN);
        pair.requester().send(2, source, 0, BYTES / 2);
        Completion received = pair.responder().receives().next("the RECV that claims more than its region");
        Completion sent = pair.requester().sends().next("the SEND");
        if (received.isSuccess()) {
            pattern.require(memory.asSlice(0, BYTES / 2), "the message");
            assertTrue(sent.isSuccess(), "RECV succeeded, SEND did not: " + sent);
            pair.responder().receive(3, inbox, 0, BYTES + MARGIN);
            pair.requester().send(4, nodes.requester().region(BYTES + 1), 0, BYTES + 1);
            pair.responder().receives().expect(3, nodes.traits().badReceiveSink(), "RECV of one byte too many");
            pair.requester().sends().expect(4, nodes.traits().sendFailedAtPeer(), "SEND of one byte too many");
            pair.expectBothBroken();
        } else {
            assertTrue(
                    nodes.traits().has(Trait.CHECKS_WHOLE_RECEIVE_BUFFER)
                            && nodes.traits().badReceiveSink().contains(received.status()),
                    "RECV: " + received);
            pair.expectBothBroken();
            BytePattern.requireAll(memory.asSlice(0, BYTES), BytePattern.POISON, "buffer of the failed RECV");
        }
        BytePattern.requireAll(memory.asSlice(BYTES), BytePattern.POISON, "memory behind the region");
    }

    @Test
    @ConformanceCase(
            number = 52,
            title = "SEND, READ and WRITE of 64 MiB arrive byte for byte",
            source = "rdma-unit-test RcQpTest.SendLargeChunk, ReadLargeChunk, WriteLargeChunk")
    void shouldMoveEveryByteWhenMessagesAreLarge(TwoNodes nodes) {
        long length = Math.min(
                (long) (LARGE * Math.min(1, nodes.settings().scale())),
                nodes.requester().device().capabilities().maxMessageLength());
        LoopbackPair pair = nodes.connect();
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(length, pattern);
        MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        pair.requester().write(1, source, remote);
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, length);
        pair.requester().read(2, sink, remote);
        pair.requester().sends().expect(2, CompletionOpcode.READ, length);
        pattern.require(remote.memory(), "WRITE of " + length + " bytes");
        pattern.require(sink.memory(), "READ of " + length + " bytes");
        remote.memory().fill((byte) 0);
        pair.responder().receive(3, remote, 0, length);
        pair.requester().send(4, source, 0, length);
        pair.requester().sends().expect(4, CompletionOpcode.SEND, length);
        pair.responder().receives().expect(3, CompletionOpcode.RECEIVE, length);
        pattern.require(remote.memory(), "SEND of " + length + " bytes");
    }

    @Test
    @ConformanceCase(
            number = 53,
            title = "SEND and WRITE gather, RECV scatters with other cuts, in the order of the entries",
            source = "rdma-unit-test RcQpTest.SendMultipleSge; ibv_post_send(3), ibv_post_recv(3)")
    void shouldKeepOrderOfBytesWhenGatheringAndScattering(TwoNodes nodes) {
        int entries = Math.min(8, nodes.requester().device().capabilities().maxScatterGather());
        entries = Math.min(entries, nodes.responder().device().capabilities().maxScatterGather());
        nodes.require(entries > 1, "one local entry only");
        LoopbackPair pair =
                nodes.connect(new ConnectionSpec().limits(new QueuePairLimits(16, 16, entries, entries, 0)));
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.RECEIVE_SINK);
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        for (int round = 0; round < nodes.times(50); round++) {
            BytePattern pattern = nodes.pattern();
            MemoryRegion source = nodes.requester().region(BYTES, pattern);
            SendWorkRequest send = new SendWorkRequest().send(1, SendFlags.SIGNALLED);
            SendWorkRequest write =
                    new SendWorkRequest().write(2, target.address(), target.rkey(), SendFlags.SIGNALLED);
            ReceiveWorkRequest receive = new ReceiveWorkRequest().receive(3);
            int[] sendCuts = cuts(nodes, entries);
            int[] receiveCuts = cuts(nodes, entries);
            for (int i = 0; i < entries; i++) {
                send.add(source, sendCuts[i], sendCuts[i + 1] - sendCuts[i]);
                write.add(source, sendCuts[i], sendCuts[i + 1] - sendCuts[i]);
                receive.add(inbox, receiveCuts[i], receiveCuts[i + 1] - receiveCuts[i]);
            }
            inbox.memory().fill((byte) 0);
            Endpoint.require(pair.responder().queuePair().post(receive), "RECV");
            Endpoint.require(pair.requester().queuePair().post(write), "WRITE");
            Endpoint.require(pair.requester().queuePair().post(send), "SEND");
            pair.requester().sends().expect(2, CompletionOpcode.WRITE, BYTES);
            pair.requester().sends().expect(1, CompletionOpcode.SEND, BYTES);
            pair.responder().receives().expect(3, CompletionOpcode.RECEIVE, BYTES);
            pattern.require(inbox.memory(), "SEND in round " + round);
            pattern.require(target.memory(), "WRITE in round " + round);
            source.close();
        }
    }

    @Test
    @ConformanceCase(
            number = 54,
            title = "READ with two local entries scatters, or is refused when posted if the device takes one",
            source = "ibv_query_device(3) max_sge_rd; RFC 5040 section 4.4 (one sink)")
    void shouldScatterOrRefuseWhenReadHasTwoEntries(TwoNodes nodes) {
        int most = nodes.requester().device().capabilities().maxScatterGatherRead();
        int entries = Math.min(2, nodes.requester().device().capabilities().maxScatterGather());
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair =
                nodes.connect(new ConnectionSpec().requesterLimits(new QueuePairLimits(16, 16, entries, 1, 0)));
        SendWorkRequest request = new SendWorkRequest()
                .read(1, source.address(), source.rkey(), SendFlags.SIGNALLED)
                .add(sink, 0, 100)
                .add(sink, 100, BYTES - 100);
        if (most > 1) {
            Endpoint.require(pair.requester().queuePair().post(request), "READ");
        } else {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.requester().queuePair().post(request));
            PostStatus good = pair.requester()
                    .queuePair()
                    .post(request.read(1, source.address(), source.rkey(), SendFlags.SIGNALLED)
                            .add(sink, 0, BYTES));
            Endpoint.require(good, "READ with one entry after the refused one");
        }
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "READ");
    }

    /** Random cuts of {@link #BYTES} bytes into pieces, some of them empty. */
    private static int[] cuts(TwoNodes nodes, int pieces) {
        int[] cuts = nodes.random().ints(pieces + 1L, 0, BYTES + 1).sorted().toArray();
        cuts[0] = 0;
        cuts[pieces] = BYTES;
        return cuts;
    }
}
