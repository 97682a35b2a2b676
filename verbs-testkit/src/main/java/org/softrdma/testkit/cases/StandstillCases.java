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
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Standstill;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.ConnectionParameters;

/**
 * Deregistration in the middle of messages, which a stalled peer makes certain. It returns without waiting for that
 * peer, and when the peer continues, nothing is read from the memory any more and nothing is placed in it.
 *
 * <p>The messages are many and of random length, because a stream of equal ones may stop at a segment border every
 * time.
 */
@ExtendWith(TwoNodesExtension.class)
public final class StandstillCases {
    private static final int REGION_BYTES = 2 << 20;
    private static final int MESSAGES = 100;
    private static final int LONGEST = 1 << 20;
    private static final int ROUNDS = 3;
    private static final int MAX_START_NS = 2_000_000;

    /** Made by JUnit. */
    public StandstillCases() {}

    /**
     * One round: a connection with deep queues, the region that will be deregistered, and the places of the messages in
     * it.
     */
    private static final class Round {
        final TwoNodes nodes;
        final Standstill standstill;
        final LoopbackPair pair;
        final MemorySegment memory;
        final MemoryRegion region;
        final int[] offsets;
        final int[] lengths;

        Round(TwoNodes nodes, AccessFlag... access) {
            this.nodes = nodes;
            standstill = Standstill.prepare(nodes);
            int reads = Math.min(
                    MESSAGES,
                    Math.min(
                            nodes.requester().device().capabilities().maxInboundReads(),
                            nodes.responder().device().capabilities().maxOutboundReads()));
            ConnectionParameters deep = ConnectionParameters.ofReads(reads);
            pair = nodes.connect(new ConnectionSpec()
                    .limits(QueuePairLimits.of(MESSAGES + 2, MESSAGES + 2))
                    .parameters(deep, deep));
            pair.barrier();
            memory = nodes.responder().memory(REGION_BYTES);
            memory.fill((byte) 1);
            region = nodes.responder().register(memory, access);
            lengths = nodes.random().ints(MESSAGES, 1, LONGEST).toArray();
            offsets = nodes.random().ints(MESSAGES, 0, REGION_BYTES - LONGEST).toArray();
        }

        /** Sends messages to a requester that takes nothing. */
        void deregisterWhileSending() {
            nodes.linger(nodes.random().nextInt(MAX_START_NS));
            standstill.whileRequesterTakesNothing(this::deregister);
        }

        /** Receives messages from a requester that has stopped somewhere in a segment. */
        void deregisterWhileReceiving() {
            nodes.linger(nodes.random().nextInt(MAX_START_NS));
            standstill.whileRequesterSendsNothing(this::deregister);
        }

        private void deregister() {
            long start = nodes.nanoTime();
            region.close();
            long took = nodes.nanoTime() - start;
            memory.fill(BytePattern.POISON);
            assertTrue(took < nodes.timeoutNs() / 2, "deregistering waited for a stalled peer: " + took + " ns");
        }

        /** Takes the completions of all messages; after a failure waits for the end of the connection. */
        int finish(CompletionReader reader, Set<CompletionStatus> cause, String what) {
            int succeeded = Refusals.expectSuccessesThenFlushes(nodes, reader.take(MESSAGES, what), cause, what);
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

    @Test
    @ConformanceCase(
            number = 213,
            title = "the source of WRITEs to a stalled peer is deregistered: no wait, and nothing later is sent",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldSendNothingLaterWhenTheSourceOfWritesIsDeregistered(TwoNodes nodes) {
        MemoryRegion target = nodes.requester().region(REGION_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(nodes);
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
            round.finish(round.pair.responder().sends(), nodes.traits().badSource(), "WRITEs from a dead source");
            BytePattern.requireEither(target.memory(), (byte) 1, (byte) 0, "target of WRITEs from a dead source");
        }
    }

    @Test
    @ConformanceCase(
            number = 215,
            title = "the source of READs by a stalled peer is deregistered: no wait, and nothing later is sent",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldSendNothingLaterWhenTheSourceOfReadsIsDeregistered(TwoNodes nodes) {
        MemoryRegion sink = nodes.requester().region((long) MESSAGES * LONGEST, AccessFlag.READ_SINK);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(nodes, AccessFlag.REMOTE_READ);
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
                    round.pair.requester().sends(), nodes.traits().readRefused(), "READs of a dead source");
            for (int message = 0; message < succeeded; message++) {
                BytePattern.requireAll(
                        sink.memory().asSlice((long) message * LONGEST, round.lengths[message]),
                        (byte) 1,
                        "sink of READ " + message + ", which succeeded");
            }
            BytePattern.requireEither(sink.memory(), (byte) 1, (byte) 0, "sink of READs of a dead source");
        }
    }

    @Test
    @ConformanceCase(
            number = 216,
            title = "the target of a WRITE that stalls in the middle is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheTargetOfAWriteIsDeregistered(TwoNodes nodes) {
        MemoryRegion source = nodes.requester().region(LONGEST);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(nodes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
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
            round.finish(round.pair.requester().sends(), nodes.traits().writeRefused(), "WRITEs to a dead target");
            if (round.pair.requester().queuePair().state() == QueuePairState.READY_TO_SEND) {
                // All may have been sent before the refusal arrived; this one comes behind it.
                round.pair.requester().write(MESSAGES, source, 0, 1, round.region.address(), round.region.rkey());
                Completion last = round.pair.requester().sends().next("WRITE to a dead target");
                assertTrue(nodes.traits().writeRefused().contains(last.status()), last.toString());
            }
            round.pair.expectBothBroken();
            round.requireUntouched("target");
        }
    }

    @Test
    @ConformanceCase(
            number = 217,
            title = "the sink of a READ whose response stalls is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheSinkOfAReadIsDeregistered(TwoNodes nodes) {
        MemoryRegion source = nodes.requester().region(LONGEST, AccessFlag.REMOTE_READ);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(nodes, AccessFlag.READ_SINK);
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
            round.finish(round.pair.responder().sends(), nodes.traits().badReadSink(), "READs into a dead sink");
            round.requireUntouched("sink");
        }
    }

    @Test
    @ConformanceCase(
            number = 218,
            title = "the buffer of a message that stalls in the middle is deregistered: nothing later is placed",
            source = "MemoryRegion.close; ibv_dereg_mr(3)")
    void shouldPlaceNothingLaterWhenTheBufferOfAReceiveIsDeregistered(TwoNodes nodes) {
        MemoryRegion source = nodes.requester().region(LONGEST);
        for (int i = 0; i < ROUNDS; i++) {
            Round round = new Round(nodes, AccessFlag.RECEIVE_SINK);
            for (int message = 0; message < MESSAGES; message++) {
                round.pair.responder().receive(message, round.region, round.offsets[message], LONGEST);
            }
            for (int message = 0; message < MESSAGES; message++) {
                round.pair.requester().send(message, source, 0, round.lengths[message]);
            }
            round.deregisterWhileReceiving();
            int received = round.finish(
                    round.pair.responder().receives(), nodes.traits().badReceiveSink(), "RECVs into a dead buffer");
            round.finish(round.pair.requester().sends(), nodes.traits().sendFailedAtPeer(), "SENDs to a dead buffer");
            if (received < MESSAGES) {
                round.pair.expectBothBroken();
            }
            round.requireUntouched("buffer");
        }
    }
}
