package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.Fabric;
import org.softrdma.testkit.FabricExtension;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Standstill;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;

/**
 * Deregistration in the middle of a message, made certain by a peer that stands still: it returns without waiting for that
 * peer, and when the peer goes on, nothing is read from the memory any more and nothing is placed in it.
 */
@ExtendWith(FabricExtension.class)
public final class StandstillCases {
    private static final int LENGTH = 32 << 20;
    private static final int ROUNDS = 3;
    private static final int MAX_START_NS = 4_000_000;

    /** Made by JUnit. */
    public StandstillCases() {}

    /** The message goes to a requester that takes nothing. */
    private static void deregisterWhileSending(
            Fabric fabric, Standstill standstill, MemoryRegion region, MemorySegment memory) {
        fabric.linger(fabric.random().nextInt(MAX_START_NS));
        standstill.whileRequesterTakesNothing(() -> deregister(fabric, region, memory));
    }

    /** The message comes from a requester that has stopped somewhere in a segment. */
    private static void deregisterWhileReceiving(
            Fabric fabric, Standstill standstill, MemoryRegion region, MemorySegment memory) {
        fabric.linger(fabric.random().nextInt(MAX_START_NS));
        standstill.whileRequesterSendsNothing(() -> deregister(fabric, region, memory));
    }

    private static void deregister(Fabric fabric, MemoryRegion region, MemorySegment memory) {
        long start = System.nanoTime();
        region.close();
        long took = System.nanoTime() - start;
        memory.fill(BytePattern.POISON);
        assertTrue(took < fabric.timeoutNs() / 2, "deregistering waited for a peer that stands still: " + took + " ns");
    }

    /** Fails unless the request succeeded or failed lawfully; after a failure waits for the end of the connection. */
    private static boolean succeeded(
            Fabric fabric, LoopbackPair pair, Endpoint end, Set<CompletionStatus> failures, String what) {
        Completion completion = end.sends().next(what);
        EnumSet<CompletionStatus> lawful = EnumSet.of(CompletionStatus.SUCCESS, CompletionStatus.FLUSHED);
        lawful.addAll(failures);
        assertTrue(lawful.contains(completion.status()), what + ": " + completion);
        if (!completion.isSuccess()) {
            end.awaitError();
            if (!fabric.traits().has(Trait.PEER_SURVIVES_LOCAL_ERROR)) {
                pair.requester().awaitError();
                pair.responder().awaitError();
            }
        }
        return completion.isSuccess();
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 213,
            title = "the source of a WRITE whose peer stands still is deregistered: no wait, and nothing later is sent",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldSendNothingLaterWhenTheSourceOfAWriteIsDeregistered(Fabric fabric) {
        for (int round = 0; round < ROUNDS; round++) {
            Standstill standstill = Standstill.prepare(fabric);
            LoopbackPair pair = fabric.connect();
            pair.barrier();
            MemorySegment memory = fabric.responder().memory(LENGTH);
            memory.fill((byte) 1);
            MemoryRegion source = fabric.responder().register(memory);
            MemoryRegion target = fabric.requester().region(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            pair.responder().write(0, source, target);
            deregisterWhileSending(fabric, standstill, source, memory);
            succeeded(fabric, pair, pair.responder(), fabric.traits().badSource(), "WRITE from a dead source");
            BytePattern.requireEither(target.memory(), (byte) 1, (byte) 0, "target of a WRITE from a dead source");
            target.close();
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 215,
            title = "the source of a READ whose peer stands still is deregistered: no wait, and nothing later is sent",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldSendNothingLaterWhenTheSourceOfAReadIsDeregistered(Fabric fabric) {
        for (int round = 0; round < ROUNDS; round++) {
            Standstill standstill = Standstill.prepare(fabric);
            LoopbackPair pair = fabric.connect();
            MemorySegment memory = fabric.responder().memory(LENGTH);
            memory.fill((byte) 1);
            MemoryRegion source = fabric.responder().register(memory, AccessFlag.REMOTE_READ);
            MemoryRegion sink = fabric.requester().region(LENGTH, AccessFlag.READ_SINK);
            pair.requester().read(0, sink, source);
            deregisterWhileSending(fabric, standstill, source, memory);
            boolean whole =
                    succeeded(fabric, pair, pair.requester(), fabric.traits().readRefused(), "READ of a dead source");
            BytePattern.requireEither(
                    sink.memory(), (byte) 1, whole ? (byte) 1 : (byte) 0, "sink of a READ of a dead source");
            sink.close();
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 216,
            title = "the target of a WRITE that stands still in the middle is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheTargetOfAWriteIsDeregistered(Fabric fabric) {
        MemoryRegion source = fabric.requester().region(LENGTH);
        for (int round = 0; round < ROUNDS; round++) {
            Standstill standstill = Standstill.prepare(fabric);
            LoopbackPair pair = fabric.connect();
            MemorySegment memory = fabric.responder().memory(LENGTH);
            MemoryRegion target = fabric.responder().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            pair.requester().write(0, source, target);
            deregisterWhileReceiving(fabric, standstill, target, memory);
            pair.requester().write(1, source, target); // Refused, should the first have been through already.
            Refusals.expectSuccessesThenFlushes(
                    fabric,
                    pair.requester().sends().take(2, "WRITEs to a dead target"),
                    fabric.traits().writeRefused(),
                    "WRITEs to a dead target");
            pair.expectBothBroken();
            BytePattern.requireAll(memory, BytePattern.POISON, "target after its deregistration, round " + round);
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 217,
            title = "the sink of a READ whose answer stands still is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheSinkOfAReadIsDeregistered(Fabric fabric) {
        MemoryRegion source = fabric.requester().region(LENGTH, AccessFlag.REMOTE_READ);
        for (int round = 0; round < ROUNDS; round++) {
            Standstill standstill = Standstill.prepare(fabric);
            LoopbackPair pair = fabric.connect();
            pair.barrier();
            MemorySegment memory = fabric.responder().memory(LENGTH);
            MemoryRegion sink = fabric.responder().register(memory, AccessFlag.READ_SINK);
            pair.responder().read(0, sink, source);
            deregisterWhileReceiving(fabric, standstill, sink, memory);
            succeeded(fabric, pair, pair.responder(), fabric.traits().badReadSink(), "READ into a dead sink");
            BytePattern.requireAll(memory, BytePattern.POISON, "sink after its deregistration, round " + round);
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 218,
            title = "the buffer of a message that stands still in the middle is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheBufferOfAReceiveIsDeregistered(Fabric fabric) {
        MemoryRegion source = fabric.requester().region(LENGTH);
        for (int round = 0; round < ROUNDS; round++) {
            Standstill standstill = Standstill.prepare(fabric);
            LoopbackPair pair = fabric.connect();
            MemorySegment memory = fabric.responder().memory(LENGTH);
            MemoryRegion inbox = fabric.responder().register(memory, AccessFlag.RECEIVE_SINK);
            pair.responder().receive(0, inbox, 0, LENGTH);
            pair.requester().send(1, source, 0, LENGTH);
            deregisterWhileReceiving(fabric, standstill, inbox, memory);
            Completion received = pair.responder().receives().next("RECV into a dead buffer");
            boolean whole = received.isSuccess();
            assertTrue(
                    whole || fabric.traits().badReceiveSink().contains(received.status()),
                    "RECV into a dead buffer: " + received);
            Completion sent = pair.requester().sends().next("SEND to a dead buffer");
            assertTrue(
                    whole
                            ? sent.isSuccess()
                            : fabric.traits().sendFailedAtPeer().contains(sent.status()),
                    "SEND to a dead buffer: " + sent);
            if (!whole) {
                pair.expectBothBroken();
            }
            BytePattern.requireAll(memory, BytePattern.POISON, "buffer after its deregistration, round " + round);
        }
    }
}
