package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.WorkCompletion;

class ReceiveQueueTest {
    private static final int CAPACITY = 4;

    private final SoftCompletionQueue completions = new SoftCompletionQueue(16, new StillProgress(), null, () -> {});
    private final RecordingSource source = new RecordingSource(1);
    private final ReceiveQueue queue = new ReceiveQueue(source, completions, CAPACITY, 3);

    ReceiveQueueTest() {
        source.receiveQueue(queue::free);
    }

    private PostStatus post(long wrId) {
        return queue.post(new ReceiveWorkRequest().receive(wrId).add(wrId * 1000, wrId * 10, (int) -wrId));
    }

    @Test
    void shouldHandOutReceivesInPostingOrder() {
        assertFalse(queue.hasNext());
        post(1);
        post(2);
        assertTrue(queue.hasNext());
        assertEquals(1000, queue.entries().address(queue.slot(), 0));
        assertEquals(10, queue.entries().length(queue.slot(), 0));
        assertEquals(-1, queue.entries().lkey(queue.slot(), 0));
        queue.complete(7, false);
        assertEquals(2000, queue.entries().address(queue.slot(), 0));
        queue.complete(8, false);
        assertFalse(queue.hasNext());
        assertEquals(List.of("1 RECEIVE 7", "2 RECEIVE 8"), Completions.drain(completions));
    }

    @Test
    void shouldTakeSeveralEntries() {
        ReceiveWorkRequest request = new ReceiveWorkRequest()
                .receive(5)
                .add(100, 1, 7)
                .add(200, 2, 8)
                .add(300, 3, 9);
        assertEquals(PostStatus.ACCEPTED, queue.post(request));
        assertEquals(3, queue.entries().count(queue.slot()));
        assertEquals(6, queue.entries().total(queue.slot()));
        assertEquals(300, queue.entries().address(queue.slot(), 2));
        queue.complete(6, true);
        assertEquals(List.of("5 RECEIVE 6"), Completions.drain(completions));
    }

    @Test
    void shouldBeFullAtItsCapacityAndLoseNothing() {
        for (int wrId = 1; wrId <= CAPACITY; wrId++) {
            assertEquals(PostStatus.ACCEPTED, post(wrId));
        }
        assertEquals(PostStatus.QUEUE_FULL, post(9));
        assertEquals(PostStatus.QUEUE_FULL, queue.post(new ReceiveWorkRequest().receive(9)));
        assertEquals(1000, queue.entries().address(queue.slot(), 0), "the oldest was not written over");
        queue.complete(0, false);
        assertEquals(List.of("1 RECEIVE 0"), Completions.drain(completions));
        assertEquals(PostStatus.ACCEPTED, post(5));
        assertEquals(PostStatus.QUEUE_FULL, post(9));
        queue.flush(3);
        assertEquals(
                List.of("2 FLUSHED 3", "3 FLUSHED 3", "4 FLUSHED 3", "5 FLUSHED 3"), Completions.drain(completions));
    }

    @Test
    void shouldFreeASlotWhenItsCompletionIsPolledAndNotBefore() {
        for (int wrId = 1; wrId <= CAPACITY; wrId++) {
            post(wrId);
        }
        queue.complete(7, false);
        queue.complete(8, false);
        assertEquals(PostStatus.QUEUE_FULL, post(5), "two messages have come, none was polled");
        WorkCompletion[] one = WorkCompletion.array(1);
        assertEquals(1, completions.poll(one, 1));
        assertEquals(PostStatus.ACCEPTED, post(5));
        assertEquals(PostStatus.QUEUE_FULL, post(6), "one message was polled");
        queue.flush(0);
        assertEquals(PostStatus.QUEUE_FULL, post(6), "a flushed RECV is a completion too");
        assertEquals(
                List.of("2 RECEIVE 8", "3 FLUSHED 0", "4 FLUSHED 0", "5 FLUSHED 0"), Completions.drain(completions));
        for (int wrId = 6; wrId < 6 + CAPACITY; wrId++) {
            assertEquals(PostStatus.ACCEPTED, post(wrId));
        }
    }

    @Test
    void shouldFailOneAndFlushTheRest() {
        post(1);
        post(2);
        post(3);
        queue.fail(CompletionStatus.LOCAL_PROTECTION_ERROR, 0x1100);
        queue.flush(0x1100);
        queue.flush(0x1100);
        assertFalse(queue.hasNext());
        assertEquals(
                List.of("1 LOCAL_PROTECTION_ERROR 4352", "2 FLUSHED 4352", "3 FLUSHED 4352"),
                Completions.drain(completions));
    }

    @Test
    void shouldGoRoundAndRound() {
        for (int wrId = 1; wrId <= 10 * CAPACITY + 1; wrId++) {
            assertEquals(PostStatus.ACCEPTED, post(wrId));
            assertEquals(wrId * 1000L, queue.entries().address(queue.slot(), 0));
            queue.complete(wrId, false);
            assertEquals(List.of(wrId + " RECEIVE " + wrId), Completions.drain(completions));
        }
    }
}
