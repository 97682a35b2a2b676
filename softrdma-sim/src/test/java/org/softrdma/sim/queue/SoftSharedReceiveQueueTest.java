package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** A shared receive queue with two queue pairs, each with a completion queue of its own. */
class SoftSharedReceiveQueueTest {
    private static final int CAPACITY = 4;
    private static final int ENTRIES = 2;
    private static final int DOMAIN = 7;

    private final StillProgress progress = new StillProgress();
    private final AsyncEvents events = new AsyncEvents(progress);
    private int closes;
    private final SoftSharedReceiveQueue shared = new SoftSharedReceiveQueue(
            new SoftSharedReceiveQueue.Size(3, ENTRIES),
            mock(ProtectionDomain.class),
            DOMAIN,
            Capabilities.builder("test", "none").maxMessageLength(1 << 20).build(),
            progress,
            events,
            () -> closes++);
    private final Taker one = new Taker(1);
    private final Taker other = new Taker(2);

    /** A queue pair, as far as it receives. */
    private final class Taker {
        private final SoftCompletionQueue completions = new SoftCompletionQueue(16, progress, null, () -> {});
        private final ReceiveQueue queue;

        Taker(int number) {
            RecordingSource source = new RecordingSource(number);
            queue = new ReceiveQueue(source, completions, shared);
            source.receiveQueue(queue::free);
        }

        /** A message arrives and is delivered. */
        void receive(long bytes) {
            assertTrue(queue.hasNext());
            queue.complete(bytes, false);
        }

        List<String> drain() {
            return Completions.drain(completions);
        }
    }

    private PostStatus post(long wrId) {
        return shared.post(new ReceiveWorkRequest().receive(wrId).add(wrId * 1000, wrId * 10, (int) -wrId));
    }

    private void fill() {
        for (int wrId = 1; wrId <= CAPACITY; wrId++) {
            assertEquals(PostStatus.ACCEPTED, post(wrId));
        }
    }

    private Optional<SharedReceiveQueueEvent> event() {
        return events.await(0).map(SharedReceiveQueueEvent.class::cast);
    }

    @Test
    void shouldGiveEachReceiveToOneQueuePair() {
        assertFalse(one.queue.hasNext());
        fill();
        assertTrue(one.queue.hasNext());
        assertTrue(other.queue.hasNext());
        assertTrue(one.queue.hasNext(), "it has one already");
        assertEquals(1000, one.queue.entries().address(one.queue.slot(), 0));
        assertEquals(2000, other.queue.entries().address(other.queue.slot(), 0));
        assertEquals(20, other.queue.entries().length(other.queue.slot(), 0));
        assertEquals(-2, other.queue.entries().lkey(other.queue.slot(), 0));
        other.queue.complete(8, false);
        one.queue.complete(7, false);
        one.receive(9);
        assertEquals(List.of("1 RECEIVE 7", "3 RECEIVE 9"), one.drain());
        assertEquals(List.of("2 RECEIVE 8"), other.drain());
        assertTrue(other.queue.hasNext());
        assertFalse(one.queue.hasNext(), "the last one is taken");
    }

    @Test
    void shouldBeAsLargeAsAskedForAndNameItsDomain() {
        assertEquals(CAPACITY, shared.maxWorkRequests());
        assertEquals(ENTRIES, shared.maxScatterGather());
        assertEquals(DOMAIN, one.queue.domain(9));
        assertTrue(one.queue.isShared());
        ReceiveWorkRequest wide =
                new ReceiveWorkRequest().receive(1).add(0, 1, 1).add(0, 1, 1).add(0, 1, 1);
        assertThrows(IllegalArgumentException.class, () -> shared.post(wide));
        assertEquals(PostStatus.ACCEPTED, post(5));
        one.receive(1);
        assertEquals(List.of("5 RECEIVE 1"), one.drain());
    }

    @Test
    void shouldFreeASlotWhenItsCompletionIsPolledInAnyOrder() {
        fill();
        assertEquals(PostStatus.QUEUE_FULL, post(9));
        one.receive(1);
        other.receive(2);
        one.receive(3);
        assertEquals(PostStatus.QUEUE_FULL, post(9), "nothing was polled");
        assertEquals(List.of("2 RECEIVE 2"), other.drain());
        assertEquals(PostStatus.ACCEPTED, post(5));
        assertEquals(PostStatus.QUEUE_FULL, post(9), "one was polled");
        WorkCompletion[] polled = WorkCompletion.array(1);
        assertEquals(1, one.completions.poll(polled));
        assertEquals(PostStatus.ACCEPTED, post(6));
        assertEquals(PostStatus.QUEUE_FULL, post(9));
        for (int wrId = 4; wrId <= 6; wrId++) {
            other.receive(wrId);
        }
        assertEquals(List.of("4 RECEIVE 4", "5 RECEIVE 5", "6 RECEIVE 6"), other.drain());
    }

    @Test
    void shouldGoRoundAndRound() {
        for (int wrId = 1; wrId <= 10 * CAPACITY + 1; wrId++) {
            assertEquals(PostStatus.ACCEPTED, post(wrId));
            Taker taker = wrId % 3 == 0 ? other : one;
            taker.receive(wrId);
            assertEquals(List.of(wrId + " RECEIVE " + wrId), taker.drain());
        }
    }

    @Test
    void shouldFlushOnlyWhatTheQueuePairHasBegun() {
        fill();
        assertTrue(one.queue.hasNext());
        one.queue.fail(CompletionStatus.LOCAL_LENGTH_ERROR, 5);
        one.queue.flush(3);
        one.queue.flush(3);
        assertEquals(List.of("1 LOCAL_LENGTH_ERROR 5"), one.drain());
        other.queue.flush(3);
        assertEquals(List.of(), other.drain());
        for (int wrId = 2; wrId <= CAPACITY; wrId++) {
            other.receive(wrId);
        }
        assertEquals(List.of("2 RECEIVE 2", "3 RECEIVE 3", "4 RECEIVE 4"), other.drain());
        assertEquals(PostStatus.ACCEPTED, post(5), "a flushed RECV that was polled");
    }

    @Test
    void shouldTakeBackWhatAQueuePairLeaves() {
        fill();
        one.receive(1);
        assertTrue(one.queue.hasNext());
        other.receive(3);
        one.queue.close();
        assertEquals(PostStatus.ACCEPTED, post(5), "its completion was not polled");
        assertEquals(PostStatus.ACCEPTED, post(6), "its message was not whole");
        assertEquals(PostStatus.QUEUE_FULL, post(7), "another queue pair's");
        assertEquals(List.of("3 RECEIVE 3"), other.drain());
        assertEquals(PostStatus.ACCEPTED, post(7));
    }

    @Test
    void shouldRaiseTheLimitEventOnceWhenFewerAreLeft() {
        fill();
        shared.arm(3);
        one.receive(1);
        assertEquals(Optional.empty(), event(), "three are left");
        other.receive(1);
        assertEquals(
                Optional.of(new SharedReceiveQueueEvent(shared, SharedReceiveQueueEvent.Kind.LIMIT_REACHED)), event());
        one.receive(1);
        assertEquals(Optional.empty(), event(), "it was raised");
        shared.arm(2);
        assertTrue(event().isPresent(), "one is left when it is armed");
        assertEquals(Optional.empty(), event());
        shared.arm(1);
        shared.arm(0);
        one.receive(1);
        assertEquals(Optional.empty(), event(), "it was disarmed");
        assertThrows(IllegalArgumentException.class, () -> shared.arm(CAPACITY + 1));
        assertThrows(IllegalArgumentException.class, () -> shared.arm(-1));
    }

    @Test
    void shouldCloseOnceWhenNoQueuePairIsLeft() {
        shared.arm(1);
        VerbsException refused = assertThrows(VerbsException.class, shared::close);
        assertEquals(VerbsErrorCode.BUSY, refused.code());
        assertEquals(PostStatus.ACCEPTED, post(1), "it is as it was");
        one.queue.close();
        assertThrows(VerbsException.class, shared::close);
        other.queue.close();
        shared.close();
        shared.close();
        assertEquals(1, closes);
        assertEquals(Optional.empty(), event(), "an event of a closed queue");
        assertThrows(IllegalStateException.class, () -> post(2));
        assertThrows(IllegalStateException.class, () -> shared.arm(1));
        assertThrows(IllegalStateException.class, () -> new Taker(3));
    }
}
