package org.softrdma.sanitiser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.WorkCompletion;

/** Programs that look like the planted ones and break no rule: the sanitiser says nothing. */
class LawfulProgramsTest {
    private static final long BYTES = 64;

    @Test
    void shouldSayNothingWhenABufferIsReusedAfterItsCompletion() {
        SanitisedPair pair = SanitisedPair.connect();
        try (pair) {
            MemoryRegion source = pair.region(BYTES);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            for (int wrId = 0; wrId < 100; wrId++) {
                source.memory().set(ValueLayout.JAVA_LONG, 0, wrId);
                pair.requester.postWrite(wrId, source, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED);
                assertEquals(wrId, pair.completion(pair.requesterQueue).wrId());
            }
        }
        assertEquals(0, pair.findings.count(), pair.findings::toString);
    }

    @Test
    void shouldSayNothingWhenAnInlineBufferIsReusedAtOnce() {
        try (SanitisedPair pair = SanitisedPair.connect(new QueuePairLimits(16, 16, 1, 1, (int) BYTES), 64)) {
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            pair.responder.postReceive(1, inbox, 0, BYTES);
            MemoryRegion source = pair.region(BYTES);
            pair.requester.postSend(7, source, 0, BYTES, SendFlags.SIGNALLED | SendFlags.INLINE);

            source.memory().fill((byte) 1);
            source.close();

            assertTrue(pair.completion(pair.requesterQueue).isSuccess());
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    @Test
    void shouldSayNothingWhenAFencedWriteSendsWhatAReadBrings() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(BYTES, AccessFlag.REMOTE_READ);
            source.memory().fill((byte) 1);
            MemoryRegion between = pair.region(BYTES, AccessFlag.READ_SINK);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

            pair.requester.postRead(7, between, 0, BYTES, source.address(), source.rkey(), SendFlags.NONE);
            pair.requester.postWrite(
                    8, between, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED | SendFlags.FENCE);

            assertEquals(8, pair.completion(pair.requesterQueue).wrId());
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    @Test
    void shouldSayNothingWhenAReadIsPostedAgainBeforeItHasCompleted() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(BYTES, AccessFlag.REMOTE_READ);
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);
            for (int wrId = 0; wrId < 4; wrId++) {
                pair.requester.postRead(wrId, sink, 0, BYTES, source.address(), source.rkey(), SendFlags.SIGNALLED);
            }
            for (int wrId = 0; wrId < 4; wrId++) {
                assertEquals(wrId, pair.completion(pair.requesterQueue).wrId());
            }
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    @Test
    void shouldSayNothingWhenAFencedReadUsesTheSinkOfAnEarlierOne() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(2 * BYTES, AccessFlag.REMOTE_READ);
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);

            pair.requester.postRead(7, sink, 0, BYTES, source.address(), source.rkey(), SendFlags.NONE);
            pair.requester.postRead(
                    8, sink, 0, BYTES, source.address() + BYTES, source.rkey(), SendFlags.SIGNALLED | SendFlags.FENCE);

            assertEquals(8, pair.completion(pair.requesterQueue).wrId());
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    @Test
    void shouldSayNothingWhenThePeerMayWriteWhereASourceLies() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion shared = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion news = pair.region(BYTES);
            news.memory().fill((byte) 1);
            pair.requester.postWrite(7, shared, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED);

            pair.responder.postWrite(8, news, 0, BYTES, shared.address(), shared.rkey(), SendFlags.SIGNALLED);
            pair.completion(pair.responderQueue);
            // The peer's WRITE is in place once its completion and a READ behind it are.
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);
            MemoryRegion any = pair.region(BYTES, AccessFlag.REMOTE_READ);
            pair.responder.postRead(9, sink, 0, BYTES, any.address(), any.rkey(), SendFlags.SIGNALLED);
            pair.completion(pair.responderQueue);
            assertEquals(1, shared.memory().get(ValueLayout.JAVA_BYTE, 0));

            pair.completion(pair.requesterQueue);
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    @Test
    void shouldSayNothingWhenOneRequestInEveryDepthIsSignalled() {
        try (SanitisedPair pair = SanitisedPair.connect(QueuePairLimits.of(4, 4), 16)) {
            MemoryRegion source = pair.region(BYTES);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            int depth = pair.requester.limits().maxSendWorkRequests();
            for (int wrId = 1; wrId <= 10 * depth; wrId++) {
                int flags = wrId % depth == 0 ? SendFlags.SIGNALLED : SendFlags.NONE;
                assertEquals(
                        PostStatus.ACCEPTED,
                        pair.requester.postWrite(wrId, source, 0, BYTES, target.address(), target.rkey(), flags));
                if (flags == SendFlags.SIGNALLED) {
                    assertEquals(wrId, pair.completion(pair.requesterQueue).wrId());
                }
            }
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    @Test
    void shouldSayNothingWhenTheEventLoopArmsPollsAndWaits() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(10 * BYTES, AccessFlag.RECEIVE_SINK);
            MemoryRegion message = pair.region(BYTES);
            for (int i = 0; i < 10; i++) {
                pair.responder.postReceive(i, inbox, i * BYTES, BYTES);
            }
            WorkCompletion[] completions = WorkCompletion.array(4);
            int received = 0;
            for (int i = 0; received < 10; i++) {
                if (i < 10) {
                    pair.requester.postSend(i, message, 0, BYTES, SendFlags.NONE);
                }
                pair.responderQueue.requestNotification(false);
                int count = pair.responderQueue.poll(completions);
                if (count == 0) {
                    assertTrue(pair.responderChannel
                            .await(TimeUnit.SECONDS.toNanos(10))
                            .isPresent());
                    pair.responderQueue.acknowledgeEvents(1);
                }
                received += count;
            }
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    /** A RECV was outstanding when the queue was armed, so only the empty poll behind it makes the wait safe. */
    @Test
    void shouldSayNothingWhenTheMessageComesAfterTheEmptyPoll() throws InterruptedException {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            MemoryRegion message = pair.region(BYTES);
            pair.responder.postReceive(1, inbox, 0, BYTES);
            WorkCompletion[] completions = WorkCompletion.array(4);

            pair.responderQueue.requestNotification(false);
            assertEquals(0, pair.responderQueue.poll(completions));
            pair.requester.postSend(7, message, 0, BYTES, SendFlags.NONE);
            assertTrue(pair.responderChannel.await(TimeUnit.SECONDS.toNanos(10)).isPresent());
            pair.responderQueue.acknowledgeEvents(1);

            assertEquals(1, pair.responderQueue.poll(completions));
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    /** The rest of a chain was not accepted: it is not outstanding. */
    @Test
    void shouldSayNothingOfRequestsThatWereNotAccepted() {
        try (SanitisedPair pair = SanitisedPair.connect(QueuePairLimits.of(4, 4), 64)) {
            int depth = pair.requester.limits().maxSendWorkRequests();
            MemoryRegion source = pair.region((depth + 2L) * BYTES, AccessFlag.REMOTE_READ);
            MemoryRegion sink = pair.region((depth + 2L) * BYTES, AccessFlag.READ_SINK);
            SendWorkRequestList reads = new SendWorkRequestList(depth + 2);
            for (int i = 0; i < depth + 2; i++) {
                SendWorkRequest read = reads.next().read(i, source.address(), source.rkey(), SendFlags.SIGNALLED);
                read.add(sink, i * BYTES, BYTES);
            }
            assertEquals(PostStatus.QUEUE_FULL, pair.requester.post(reads));
            assertEquals(depth, reads.accepted());
            for (int i = 0; i < depth; i++) {
                assertEquals(i, pair.completion(pair.requesterQueue).wrId());
            }

            long refused = depth * BYTES;
            pair.requester.postRead(99, sink, refused, 2 * BYTES, source.address(), source.rkey(), SendFlags.SIGNALLED);
            pair.completion(pair.requesterQueue);
            sink.close();

            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }

    /** Another thread may not look into the memory of a confined arena, so nothing is compared. */
    @Test
    void shouldSayNothingWhenTheArenaIsConfinedToAnotherThread() throws InterruptedException {
        try (SanitisedPair pair = SanitisedPair.connect();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BYTES);
            try (MemoryRegion source = pair.domain.register(memory, Set.of())) {
                MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                pair.requester.postWrite(7, source, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED);
                Thread poller = Thread.ofPlatform().start(() -> pair.completion(pair.requesterQueue));
                poller.join();
            }
            assertEquals(0, pair.findings.count(), pair.findings::toString);
        }
    }
}
