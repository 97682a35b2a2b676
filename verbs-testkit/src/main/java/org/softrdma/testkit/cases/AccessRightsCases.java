package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;

/** Which right each kind of access needs; keys of another domain are refused. */
@ExtendWith(TwoNodesExtension.class)
public final class AccessRightsCases {
    private static final int BYTES = 256;

    /** Made by JUnit. */
    public AccessRightsCases() {}

    @Test
    @ConformanceCase(
            number = 31,
            title = "SEND and WRITE from a region without any right",
            source = "rdma-unit-test RdmaAccessTest.MissingSrcLocalWrite; ibv_reg_mr(3): local read is always on")
    void shouldSendAndWriteWhenSourceHasNoRight(TwoNodes nodes) {
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE);
        MemoryRegion target = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        LoopbackPair pair = nodes.connect();
        pair.responder().receive(3, inbox, 0, BYTES);
        pair.requester().write(1, source, target);
        pair.requester().send(2, source, 0, BYTES);
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, BYTES);
        pair.requester().sends().expect(2, CompletionOpcode.SEND, BYTES);
        pair.responder().receives().expect(3, CompletionOpcode.RECEIVE, BYTES);
        pattern.require(inbox.memory(), "SEND");
        pattern.require(target.memory(), "WRITE");
    }

    @Test
    @ConformanceCase(
            number = 32,
            title = "a message for a RECV without LOCAL_WRITE fails and leaves the buffer alone",
            source = "rdma-unit-test RdmaAccessTest.MissingDstLocalWrite; ibv_reg_mr(3)")
    void shouldFailReceiveWhenSinkLacksLocalWrite(TwoNodes nodes) {
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        inbox.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        pair.responder().receive(1, inbox, 0, BYTES);
        Refusals.expectReceiveFails(nodes, pair, inbox.memory(), "its region lacks LOCAL_WRITE");
    }

    @Test
    @ConformanceCase(
            number = 33,
            title = "SEND into a region without REMOTE_WRITE",
            source = "rdma-unit-test RdmaAccessTest.MissingDstRemoteWrite; ibv_reg_mr(3)")
    void shouldReceiveWhenSinkLacksRemoteWrite(TwoNodes nodes) {
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        MemoryRegion inbox = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE);
        LoopbackPair pair = nodes.connect();
        pair.responder().receive(1, inbox, 0, BYTES);
        pair.requester().send(2, source, 0, BYTES);
        pair.requester().sends().expect(2, CompletionOpcode.SEND, BYTES);
        pair.responder().receives().expect(1, CompletionOpcode.RECEIVE, BYTES);
        pattern.require(inbox.memory(), "SEND");
    }

    @Test
    @ConformanceCase(
            number = 34,
            title = "READ into a region without LOCAL_WRITE fails at the requester and leaves it alone",
            source = "rdma-unit-test RdmaAccessTest.MissingSrcLocalWrite (READ); ibv_reg_mr(3)")
    void shouldFailReadWhenSinkLacksLocalWrite(TwoNodes nodes) {
        MemoryRegion source = nodes.responder().region(BYTES, nodes.pattern(), AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.REMOTE_READ);
        sink.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, source);
        Refusals.expectLocalError(nodes, pair, nodes.traits().badReadSink(), "READ into a region without LOCAL_WRITE");
        BytePattern.requireAll(sink.memory(), BytePattern.POISON, "sink without LOCAL_WRITE");
    }

    @Test
    @ConformanceCase(
            number = 35,
            title = "READ into a region registered with the intent READ_SINK only",
            source = "ofiwg/libfabric pull 1707 and linux-rdma/perftest: iWARP wants REMOTE_WRITE on the sink")
    void shouldReadWhenSinkIsRegisteredByIntent(TwoNodes nodes) {
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, source);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "READ");
    }

    @Test
    @ConformanceCase(
            number = 36,
            title = "READ from a region without REMOTE_READ is refused",
            source = "RFC 5040 section 8.1.1; ibv_reg_mr(3) (rdma-unit-test removes another right here)")
    void shouldRefuseReadWhenRegionLacksRemoteRead(TwoNodes nodes) {
        MemoryRegion region =
                nodes.responder().region(BYTES, nodes.pattern(), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        Refusals.expectReadRefused(
                nodes, nodes.connect(), region.address(), region.rkey(), BYTES, "READ without REMOTE_READ");
    }

    @Test
    @ConformanceCase(
            number = 37,
            title = "WRITE to a region without REMOTE_WRITE changes nothing",
            source = "rdma-unit-test RdmaAccessTest.MissingDstRemoteWrite (WRITE); RFC 5040 section 8.1.1")
    void shouldRefuseWriteWhenRegionLacksRemoteWrite(TwoNodes nodes) {
        MemoryRegion region = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
        region.memory().fill(BytePattern.POISON);
        Refusals.expectWriteRefused(
                nodes,
                nodes.connect(),
                region.address(),
                region.rkey(),
                BYTES,
                region.memory(),
                "WRITE without REMOTE_WRITE");
    }

    @Test
    @ConformanceCase(
            number = 38,
            title = "READ needs no right but REMOTE_READ, WRITE none but LOCAL_WRITE and REMOTE_WRITE",
            source = "rdma-unit-test RdmaAccessTest.MissingDstRemoteAtomic; ibv_reg_mr(3)")
    void shouldReadAndWriteWhenOnlyTheNeededRightsAreThere(TwoNodes nodes) {
        BytePattern readPattern = nodes.pattern();
        BytePattern writePattern = nodes.pattern();
        MemoryRegion readable = nodes.responder().region(BYTES, readPattern, AccessFlag.REMOTE_READ);
        MemoryRegion writable = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion source = nodes.requester().region(BYTES, writePattern);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, readable);
        pair.requester().write(2, source, writable);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pair.requester().sends().expect(2, CompletionOpcode.WRITE, BYTES);
        pair.barrier();
        readPattern.require(sink.memory(), "READ");
        writePattern.require(writable.memory(), "WRITE");
    }

    @Test
    @ConformanceCase(
            number = 42,
            title = "SEND, WRITE and READ with a local region of another domain fail at the requester",
            source = "rdma-unit-test PdRcLoopbackMrTest.SendMrOtherPdLocal, BasicReadMrOtherPdLocal; ibv_alloc_pd(3)")
    void shouldFailLocallyWhenLocalRegionIsOfAnotherDomain(TwoNodes nodes) {
        MemoryRegion foreign = nodes.requester()
                .register(nodes.requester().otherDomain(), nodes.requester().memory(BYTES), AccessFlag.READ_SINK);
        foreign.memory().fill(BytePattern.POISON);
        MemorySegment memory = nodes.responder().memory(BYTES);
        memory.fill((byte) 1);
        MemoryRegion remote = nodes.responder()
                .register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        LoopbackPair sending = nodes.connect();
        sending.requester().send(1, foreign, 0, BYTES);
        Refusals.expectLocalError(nodes, sending, nodes.traits().badSource(), "SEND from another domain");
        LoopbackPair writing = nodes.connect();
        writing.requester().write(1, foreign, remote);
        Refusals.expectLocalError(nodes, writing, nodes.traits().badSource(), "WRITE from another domain");
        BytePattern.requireAll(memory, (byte) 1, "target of the WRITE");
        LoopbackPair reading = nodes.connect();
        reading.requester().read(1, foreign, remote);
        Refusals.expectLocalError(nodes, reading, nodes.traits().badReadSink(), "READ into another domain");
        BytePattern.requireAll(foreign.memory(), BytePattern.POISON, "sink of the READ");
    }

    @Test
    @ConformanceCase(
            number = 43,
            title = "READ and WRITE with a key of another domain are refused",
            source = "rdma-unit-test PdRcLoopbackMrTest.BasicReadMrOtherPdRemote, BasicWriteMrOtherPdRemote; "
                    + "RFC 5040 section 8.1.1")
    void shouldRefuseWhenRemoteRegionIsOfAnotherDomain(TwoNodes nodes) {
        MemoryRegion foreign = nodes.responder()
                .register(
                        nodes.responder().otherDomain(),
                        nodes.responder().memory(BYTES),
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE);
        foreign.memory().fill(BytePattern.POISON);
        Refusals.expectWriteRefused(
                nodes,
                nodes.connect(),
                foreign.address(),
                foreign.rkey(),
                BYTES,
                foreign.memory(),
                "WRITE to another domain");
        foreign.memory().fill((byte) 1);
        Refusals.expectReadRefused(
                nodes, nodes.connect(), foreign.address(), foreign.rkey(), BYTES, "READ from another domain");
    }

    @Test
    @ConformanceCase(
            number = 44,
            title = "a message for a RECV with a region of another domain fails and leaves it alone",
            source = "rdma-unit-test PdRcLoopbackMrTest.SendMrOtherPdRemote; ibv_alloc_pd(3)")
    void shouldFailReceiveWhenSinkIsOfAnotherDomain(TwoNodes nodes) {
        MemoryRegion foreign = nodes.responder()
                .register(nodes.responder().otherDomain(), nodes.responder().memory(BYTES), AccessFlag.RECEIVE_SINK);
        foreign.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        pair.responder().receive(1, foreign, 0, BYTES);
        Refusals.expectReceiveFails(nodes, pair, foreign.memory(), "its region is of another domain");
    }

    @Test
    @ConformanceCase(
            number = 330,
            title = "endCause() names an access of the peer that was refused, and no other end",
            source = "ibv_get_async_event(3): IBV_EVENT_QP_ACCESS_ERR; Feature END_CAUSES")
    void shouldTellAnAccessThatWasRefusedFromOtherEnds(TwoNodes nodes) {
        nodes.require(Feature.END_CAUSES);
        MemoryRegion closed = nodes.responder().region(BYTES, AccessFlag.LOCAL_WRITE);
        closed.memory().fill(BytePattern.POISON);
        LoopbackPair read = nodes.connect();
        assertEquals(EndCause.UNKNOWN, read.responder().queuePair().endCause());
        Refusals.expectReadRefused(nodes, read, closed.address(), closed.rkey(), BYTES, "READ without the right");
        assertEquals(EndCause.PEER_ACCESS_ERROR, read.responder().queuePair().endCause());
        assertEquals(EndCause.UNKNOWN, read.requester().queuePair().endCause(), "the peer did nothing wrong");
        LoopbackPair write = nodes.connect();
        Refusals.expectWriteRefused(
                nodes, write, closed.address(), closed.rkey(), BYTES, closed.memory(), "WRITE without the right");
        assertEquals(EndCause.PEER_ACCESS_ERROR, write.responder().queuePair().endCause());
        LoopbackPair disconnected = nodes.connect();
        disconnected.requester().queuePair().disconnect();
        disconnected.expectBothBroken();
        assertEquals(EndCause.UNKNOWN, disconnected.responder().queuePair().endCause());
        assertEquals(EndCause.UNKNOWN, disconnected.requester().queuePair().endCause());
    }
}
