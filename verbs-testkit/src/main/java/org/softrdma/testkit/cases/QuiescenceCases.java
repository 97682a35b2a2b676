package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;

/**
 * Deregistration: once it has returned, the device does not use the memory any more. The case overwrites the memory at
 * once and then watches it: nothing may read or change it.
 */
@ExtendWith(TwoNodesExtension.class)
public final class QuiescenceCases {
    private static final int REQUESTS = 200;
    private static final int REQUEST_BYTES = 64 << 10;
    private static final int THREADS = 8;

    /** Made by JUnit. */
    public QuiescenceCases() {}

    private static LoopbackPair deep(TwoNodes nodes) {
        return nodes.connect(new ConnectionSpec().requesterLimits(QueuePairLimits.of(256, 8)));
    }

    @Test
    @ConformanceCase(
            number = 14,
            title = "the sink of 200 READs is deregistered under them: successes, then an error, and no late byte",
            source = "rdma-unit-test MrLoopbackTest.OutstandingRead; ibv_dereg_mr(3)")
    void shouldPlaceNothingMoreWhenTheSinkIsDeregistered(TwoNodes nodes) {
        nodes.require(
                !nodes.traits().has(Trait.SENDS_AFTER_DEREGISTRATION),
                "no wait for a segment that is being placed or that TCP has (siw_mem.c, siw_mr_drop_mem)");
        MemoryRegion source = nodes.responder().region(REQUEST_BYTES, AccessFlag.REMOTE_READ);
        for (int round = 0; round < nodes.times(4); round++) {
            LoopbackPair pair = deep(nodes);
            MemorySegment memory = nodes.requester().memory(4L * REQUEST_BYTES);
            MemoryRegion sink = nodes.requester().register(memory, AccessFlag.READ_SINK);
            for (int i = 0; i < REQUESTS; i++) {
                long offset = (i % 4L) * REQUEST_BYTES;
                pair.requester().read(i, sink, offset, REQUEST_BYTES, source.address(), source.rkey());
            }
            sink.close();
            memory.fill(BytePattern.POISON);
            List<Completion> completions = pair.requester().sends().take(REQUESTS, "READs into a dead sink");
            int succeeded = Refusals.expectSuccessesThenFlushes(
                    nodes, completions, nodes.traits().badReadSink(), "READs into a dead sink");
            if (succeeded < REQUESTS) {
                pair.expectBothBroken();
            }
            BytePattern.requireAll(memory, BytePattern.POISON, "sink after its deregistration, round " + round);
        }
    }

    @Test
    @ConformanceCase(
            number = 15,
            title = "the target of a stream of WRITEs is deregistered under them: no late byte, then refusal",
            source = "rdma-unit-test MrLoopbackTest.OutstandingWrite; ibv_dereg_mr(3)")
    void shouldPlaceNothingMoreWhenTheTargetIsDeregistered(TwoNodes nodes) {
        nodes.require(
                !nodes.traits().has(Trait.SENDS_AFTER_DEREGISTRATION),
                "no wait for a segment that is being placed or that TCP has (siw_mem.c, siw_mr_drop_mem)");
        MemoryRegion source = nodes.requester().region(REQUEST_BYTES, nodes.pattern());
        for (int round = 0; round < nodes.times(4); round++) {
            LoopbackPair pair = deep(nodes);
            MemorySegment memory = nodes.responder().memory(4L * REQUEST_BYTES);
            MemoryRegion target = nodes.responder().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            for (int i = 0; i < REQUESTS; i++) {
                long address = target.address() + (i % 4L) * REQUEST_BYTES;
                pair.requester().write(i, source, 0, REQUEST_BYTES, address, target.rkey());
            }
            nodes.linger(nodes.random().nextInt(2_000_000));
            target.close();
            memory.fill(BytePattern.POISON);
            pair.requester().write(REQUESTS, source, 0, REQUEST_BYTES, target.address(), target.rkey());
            Refusals.expectSuccessesThenFlushes(
                    nodes,
                    pair.requester().sends().take(REQUESTS + 1, "WRITEs to a dead target"),
                    nodes.traits().writeRefused(),
                    "WRITEs to a dead target");
            pair.expectBothBroken();
            BytePattern.requireAll(memory, BytePattern.POISON, "target after its deregistration, round " + round);
        }
    }

    /** One of the threads that READ or WRITE regions which are then deregistered. */
    private static final class Peer {
        private static final int LENGTH = 4096;
        private static final int IN_FLIGHT = 8;

        private final TwoNodes nodes;
        private final LoopbackPair pair;
        private final MemoryRegion local;
        private final MemoryRegion remote;
        private final boolean reads;
        private final AtomicInteger done = new AtomicInteger();

        Peer(TwoNodes nodes, MemoryRegion remote, boolean reads) {
            this.nodes = nodes;
            this.remote = remote;
            this.reads = reads;
            pair = nodes.connect();
            local = nodes.requester().region((long) IN_FLIGHT * LENGTH, AccessFlag.READ_SINK);
            local.memory().fill((byte) 1);
        }

        /** Keeps requests in flight until they fail. */
        int run() {
            int posted = 0;
            int completed = 0;
            boolean failed = false;
            while (!failed || completed < posted) {
                while (!failed && posted - completed < IN_FLIGHT) {
                    post(posted++);
                }
                Completion completion = pair.requester().sends().next("a request on a region that is deregistered");
                int slot = (int) (completion.wrId() % IN_FLIGHT);
                completed++;
                if (completion.isSuccess()) {
                    if (reads) {
                        BytePattern.requireAll(
                                local.memory().asSlice((long) slot * LENGTH, LENGTH), (byte) 1, "READ that succeeded");
                    }
                    done.incrementAndGet();
                } else {
                    failed = true;
                }
            }
            pair.expectBothBroken();
            return completed;
        }

        private void post(int number) {
            long offset = (long) (number % IN_FLIGHT) * LENGTH;
            long address = remote.address() + nodes.random().nextInt((int) remote.length() - LENGTH + 1);
            if (reads) {
                pair.requester().read(number, local, offset, LENGTH, address, remote.rkey());
            } else {
                pair.requester().write(number, local, offset, LENGTH, address, remote.rkey());
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 210,
            title =
                    "eight threads READ and WRITE regions as they are deregistered: none sees or changes them afterwards",
            source = "ibv_dereg_mr(3); MemoryRegion.close")
    void shouldTouchNothingWhenRegionsAreDeregisteredUnderManyThreads(TwoNodes nodes) {
        nodes.require(
                !nodes.traits().has(Trait.SENDS_AFTER_DEREGISTRATION),
                "no wait for a segment that is being placed or that TCP has (siw_mem.c, siw_mr_drop_mem)");
        nodes.requireThreads();
        for (int round = 0; round < nodes.times(6); round++) {
            MemorySegment readMemory = nodes.responder().memory(64 << 10);
            MemorySegment writeMemory = nodes.responder().memory(64 << 10);
            readMemory.fill((byte) 1);
            MemoryRegion readable = nodes.responder().register(readMemory, AccessFlag.REMOTE_READ);
            MemoryRegion writable =
                    nodes.responder().register(writeMemory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            List<Peer> peers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                peers.add(new Peer(nodes, i % 2 == 0 ? readable : writable, i % 2 == 0));
            }
            List<Task<Integer>> tasks = new ArrayList<>();
            peers.forEach(peer -> tasks.add(nodes.start("peer", peer::run)));
            nodes.await(
                    "every thread to have completed 20 requests",
                    () -> peers.stream().allMatch(peer -> peer.done.get() >= 20)
                            || tasks.stream().anyMatch(Task::isDone));
            readable.close();
            readMemory.fill(BytePattern.POISON);
            writable.close();
            writeMemory.fill(BytePattern.POISON);
            tasks.forEach(Task::get);
            BytePattern.requireAll(readMemory, BytePattern.POISON, "region that was READ, round " + round);
            BytePattern.requireAll(writeMemory, BytePattern.POISON, "region that was written, round " + round);
            peers.forEach(peer -> {
                peer.pair.requester().queuePair().close();
                peer.pair.responder().queuePair().close();
            });
        }
    }

    @Test
    @ConformanceCase(
            number = 211,
            title = "the buffers of RECVs are deregistered while messages arrive: no late byte",
            source = "rdma-unit-test MrLoopbackTest.OutstandingRecv; ibv_dereg_mr(3)")
    void shouldPlaceNothingMoreWhenReceiveBuffersAreDeregistered(TwoNodes nodes) {
        nodes.require(
                !nodes.traits().has(Trait.SENDS_AFTER_DEREGISTRATION),
                "no wait for a segment that is being placed or that TCP has (siw_mem.c, siw_mr_drop_mem)");
        int messages = 100;
        MemoryRegion source = nodes.requester().region(REQUEST_BYTES, nodes.pattern());
        for (int round = 0; round < nodes.times(4); round++) {
            LoopbackPair pair = nodes.connect();
            MemorySegment memory = nodes.responder().memory(REQUEST_BYTES);
            MemoryRegion inbox = nodes.responder().register(memory, AccessFlag.RECEIVE_SINK);
            for (int i = 0; i < messages; i++) {
                pair.responder().receive(i, inbox, 0, REQUEST_BYTES);
            }
            for (int i = 0; i < messages; i++) {
                pair.requester().send(i, source, 0, REQUEST_BYTES);
            }
            nodes.linger(nodes.random().nextInt(1_000_000));
            inbox.close();
            memory.fill(BytePattern.POISON);
            int received = Refusals.expectSuccessesThenFlushes(
                    nodes,
                    pair.responder().receives().take(messages, "RECVs into a dead buffer"),
                    nodes.traits().badReceiveSink(),
                    "RECVs into a dead buffer");
            Refusals.expectSuccessesThenFlushes(
                    nodes,
                    pair.requester().sends().take(messages, "SENDs to a dead buffer"),
                    nodes.traits().sendFailedAtPeer(),
                    "SENDs to a dead buffer");
            if (received < messages) {
                pair.expectBothBroken();
            }
            BytePattern.requireAll(memory, BytePattern.POISON, "buffer after its deregistration, round " + round);
        }
    }

    @Test
    @ConformanceCase(
            number = 212,
            title = "the source of long WRITEs is deregistered while they are sent: bytes written later are never sent",
            source = "ibv_dereg_mr(3); MemoryRegion.close")
    void shouldSendNothingWrittenLaterWhenTheSourceIsDeregistered(TwoNodes nodes) {
        nodes.require(
                !nodes.traits().has(Trait.SENDS_AFTER_DEREGISTRATION),
                "the device hands pages to TCP, which sends what is in them then (siw_qp_tx.c, siw_tx_hdt)");
        int length = 8 << 20;
        for (int round = 0; round < nodes.times(4); round++) {
            LoopbackPair pair = nodes.connect();
            MemorySegment memory = nodes.requester().memory(length);
            memory.fill((byte) 1);
            MemoryRegion source = nodes.requester().register(memory);
            MemoryRegion target = nodes.responder().region(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            pair.requester().write(0, source, target);
            pair.requester().write(1, source, target);
            nodes.linger(nodes.random().nextInt(3_000_000));
            source.close();
            memory.fill(BytePattern.POISON);
            int succeeded = Refusals.expectSuccessesThenFlushes(
                    nodes,
                    pair.requester().sends().take(2, "WRITEs from a dead source"),
                    nodes.traits().badSource(),
                    "WRITEs from a dead source");
            if (succeeded == 2) {
                pair.barrier();
                BytePattern.requireAll(target.memory(), (byte) 1, "target of WRITEs that succeeded");
            } else {
                pair.expectBothBroken();
                BytePattern.requireEither(target.memory(), (byte) 1, (byte) 0, "target of failed WRITEs");
            }
            target.close();
        }
    }

    @Test
    @ConformanceCase(
            number = 214,
            title = "READs that were answered before their source was deregistered are intact",
            source = "ibv_dereg_mr(3); MemoryRegion.close: a message that still needed the memory fails")
    void shouldReadWholeOrFailWhenTheSourceIsDeregistered(TwoNodes nodes) {
        nodes.require(
                !nodes.traits().has(Trait.SENDS_AFTER_DEREGISTRATION),
                "the device hands pages to TCP, which sends what is in them then (siw_qp_tx.c, siw_tx_hdt)");
        int length = 4 << 20;
        Set<CompletionStatus> refused = new HashSet<>(nodes.traits().readRefused());
        if (nodes.traits().has(Trait.STOPS_ANSWERING)) {
            refused.addAll(nodes.traits().peerGone());
        }
        MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
        for (int round = 0; round < nodes.times(6); round++) {
            LoopbackPair pair = nodes.connect();
            MemorySegment memory = nodes.responder().memory(length);
            memory.fill((byte) 1);
            MemoryRegion source = nodes.responder().register(memory, AccessFlag.REMOTE_READ);
            sink.memory().fill((byte) 0);
            for (int i = 0; i < 4; i++) {
                pair.requester().read(i, sink, source);
            }
            nodes.linger(nodes.random().nextInt(3_000_000));
            source.close();
            memory.fill(BytePattern.POISON);
            List<Completion> completions = pair.requester().sends().take(4, "READs of a dead source");
            int succeeded = Refusals.expectSuccessesThenFlushes(nodes, completions, refused, "READs of a dead source");
            if (succeeded < 4) {
                pair.expectBothBroken();
            } else {
                pair.requester().read(9, sink, 0, 1, source.address(), source.rkey());
                pair.requester().sends().expect(9, nodes.traits().readRefused(), "READ of a dead source");
                pair.expectBothBroken();
            }
            if (succeeded > 0) {
                BytePattern.requireAll(sink.memory(), (byte) 1, "sink of READs, " + succeeded + " succeeded");
            }
            BytePattern.requireEither(sink.memory(), (byte) 1, (byte) 0, "sink of failed READs");
            assertTrue(
                    succeeded == 0 || completions.getFirst().opcode() == CompletionOpcode.READ,
                    completions.getFirst().toString());
        }
    }
}
