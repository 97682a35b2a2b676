package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Fabric;
import org.softrdma.testkit.FabricExtension;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Standstill;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;

/**
 * Deregistration in the middle of messages, made certain by a peer that stands still: it returns without waiting for
 * that peer, and when the peer goes on, nothing is read from the memory any more and nothing is placed in it.
 *
 * <p>Many messages of random lengths, because a stream of equal ones may stop at the border of a segment every time.
 */
@ExtendWith(FabricExtension.class)
public final class StandstillCases {
    private static final int REGION_BYTES = 2 << 20;
    private static final int MESSAGES = 100;
    private static final int LONGEST = 1 << 20;
    private static final int ROUNDS = 3;
    private static final int MAX_START_NS = 2_000_000;

    /** Made by JUnit. */
    public StandstillCases() {}

    /**
     * One round: a connection with deep queues, the region that will be deregistered, and where messages lie in it.
     */
    private static final class Round {
        final Fabric fabric;
        final Standstill standstill;
        final LoopbackPair pair;
        final MemorySegment memory;
        final MemoryRegion region;
        final int[] offsets;
        final int[] lengths;

        Round(Fabric fabric, AccessFlag... access) {
            this.fabric = fabric;
            standstill = Standstill.prepare(fabric);
            int reads = Math.min(
                    MESSAGES,
                    Math.min(
                            fabric.requester().device().capabilities().maxInboundReads(),
                            fabric.responder().device().capabilities().maxOutboundReads()));
            ConnectionParameters deep = ConnectionParameters.ofReads(reads);
            pair = fabric.connect(new ConnectionSpec()
                    .limits(QueuePairLimits.of(MESSAGES + 2, MESSAGES + 2))
                    .parameters(deep, deep));
            pair.barrier();
            memory = fabric.responder().memory(REGION_BYTES);
            memory.fill((byte) 1);
            region = fabric.responder().register(memory, access);
            lengths = fabric.random().ints(MESSAGES, 1, LONGEST).toArray();
            offsets = fabric.random().ints(MESSAGES, 0, REGION_BYTES - LONGEST).toArray();
        }

        /** Messages go to a requester that takes nothing. */
        void deregisterWhileSending() {
            fabric.linger(fabric.random().nextInt(MAX_START_NS));
            standstill.whileRequesterTakesNothing(this::deregister);
        }

        /** Messages come from a requester that has stopped somewhere in a segment. */
        void deregisterWhileReceiving() {
            fabric.linger(fabric.random().nextInt(MAX_START_NS));
            standstill.whileRequesterSendsNothing(this::deregister);
        }

        private void deregister() {
            long start = System.nanoTime();
            region.close();
            long took = System.nanoTime() - start;
            memory.fill(BytePattern.POISON);
            assertTrue(
                    took < fabric.timeoutNs() / 2,
                    "deregistering waited for a peer that stands still: " + took + " ns");
        }

        /** Takes the completions of all messages; after a failure waits for the end of the connection. */
        int finish(CompletionReader reader, Set<CompletionStatus> cause, String what) {
            int succeeded = Refusals.expectSuccessesThenFlushes(fabric, reader.take(MESSAGES, what), cause, what);
            if (succeeded < MESSAGES) {
                pair.requester().awaitError();
                pair.responder().awaitError();
            }
            return succeeded;
        }

        void requireUntouched(String what) {
            BytePattern.requireAll(memory, BytePattern.POISON, what + " after its deregistration");
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 213,
            title = "the source of WRITEs whose peer stands still is deregistered: no wait, and nothing later is sent",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldSendNothingLaterWhenTheSourceOfWritesIsDeregistered(Fabric fabric) {
        MemoryRegion target = fabric.requester().region(REGION_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(fabric);
            target.memory().fill((byte) 0);
            for (int message = 0; message < MESSAGES; message++) {
                round.pair
                        .responder()
                        .write(
                                message,
                                round.region,
                                round.offsets[message],
                                round.lengths[message],
                                target.address(),
                                target.rkey());
            }
            round.deregisterWhileSending();
            round.finish(round.pair.responder().sends(), fabric.traits().badSource(), "WRITEs from a dead source");
            BytePattern.requireEither(target.memory(), (byte) 1, (byte) 0, "target of WRITEs from a dead source");
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 215,
            title = "the source of READs whose peer stands still is deregistered: no wait, and nothing later is sent",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldSendNothingLaterWhenTheSourceOfReadsIsDeregistered(Fabric fabric) {
        MemoryRegion sink = fabric.requester().region((long) MESSAGES * LONGEST, AccessFlag.READ_SINK);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(fabric, AccessFlag.REMOTE_READ);
            sink.memory().fill((byte) 0);
            for (int message = 0; message < MESSAGES; message++) {
                round.pair
                        .requester()
                        .read(
                                message,
                                sink,
                                (long) message * LONGEST,
                                round.lengths[message],
                                round.region.address() + round.offsets[message],
                                round.region.rkey());
            }
            round.deregisterWhileSending();
            int succeeded = round.finish(
                    round.pair.requester().sends(), fabric.traits().readRefused(), "READs of a dead source");
            for (int message = 0; message < succeeded; message++) {
                BytePattern.requireAll(
                        sink.memory().asSlice((long) message * LONGEST, round.lengths[message]),
                        (byte) 1,
                        "sink of READ " + message + ", which succeeded");
            }
            BytePattern.requireEither(sink.memory(), (byte) 1, (byte) 0, "sink of READs of a dead source");
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 216,
            title = "the target of a WRITE that stands still in the middle is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheTargetOfAWriteIsDeregistered(Fabric fabric) {
        MemoryRegion source = fabric.requester().region(LONGEST);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(fabric, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            for (int message = 0; message < MESSAGES; message++) {
                round.pair
                        .requester()
                        .write(
                                message,
                                source,
                                0,
                                round.lengths[message],
                                round.region.address() + round.offsets[message],
                                round.region.rkey());
            }
            round.deregisterWhileReceiving();
            round.finish(round.pair.requester().sends(), fabric.traits().writeRefused(), "WRITEs to a dead target");
            if (round.pair.requester().queuePair().state() == QueuePairState.READY_TO_SEND) {
                // All may have been sent before the refusal came: this one comes behind it.
                round.pair.requester().write(MESSAGES, source, 0, 1, round.region.address(), round.region.rkey());
                Completion last = round.pair.requester().sends().next("WRITE to a dead target");
                assertTrue(fabric.traits().writeRefused().contains(last.status()), last.toString());
            }
            round.pair.expectBothBroken();
            round.requireUntouched("target");
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 217,
            title = "the sink of a READ whose answer stands still is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheSinkOfAReadIsDeregistered(Fabric fabric) {
        MemoryRegion source = fabric.requester().region(LONGEST, AccessFlag.REMOTE_READ);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(fabric, AccessFlag.READ_SINK);
            for (int message = 0; message < MESSAGES; message++) {
                round.pair
                        .responder()
                        .read(
                                message,
                                round.region,
                                round.offsets[message],
                                round.lengths[message],
                                source.address(),
                                source.rkey());
            }
            round.deregisterWhileReceiving();
            round.finish(round.pair.responder().sends(), fabric.traits().badReadSink(), "READs into a dead sink");
            round.requireUntouched("sink");
        }
    }

    /** See the title. */
    @Test
    @ConformanceCase(
            number = 218,
            title = "the buffer of a message that stands still in the middle is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheBufferOfAReceiveIsDeregistered(Fabric fabric) {
        MemoryRegion source = fabric.requester().region(LONGEST);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(fabric, AccessFlag.RECEIVE_SINK);
            for (int message = 0; message < MESSAGES; message++) {
                round.pair.responder().receive(message, round.region, round.offsets[message], LONGEST);
            }
            for (int message = 0; message < MESSAGES; message++) {
                round.pair.requester().send(message, source, 0, round.lengths[message]);
            }
            round.deregisterWhileReceiving();
            int received = round.finish(
                    round.pair.responder().receives(), fabric.traits().badReceiveSink(), "RECVs into a dead buffer");
            round.finish(round.pair.requester().sends(), fabric.traits().sendFailedAtPeer(), "SENDs to a dead buffer");
            if (received < MESSAGES) {
                round.pair.expectBothBroken();
            }
            round.requireUntouched("buffer");
        }
    }
}
