package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

class CompletionQueueTest {
    private static final int RACES = 20_000;

    private final Progress engine = new ThreadedProgress();
    private final RecordingSource source = new RecordingSource(7);

    private void push(SoftCompletionQueue queue, long wrId) {
        queue.push(source, wrId, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 1, 0, 0, false);
    }

    @Test
    void shouldRefuseAnArrayWithAHoleAndLoseNothing() {
        try (SoftCompletionQueue queue = new SoftCompletionQueue(4, engine, null, () -> {})) {
            push(queue, 1);
            push(queue, 2);
            WorkCompletion[] holed = WorkCompletion.array(2);
            holed[1] = null;

            IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, () -> queue.poll(holed));

            assertTrue(String.valueOf(refusal.getMessage()).contains("completions[1]"), refusal::getMessage);
            WorkCompletion[] whole = WorkCompletion.array(2);
            assertEquals(2, queue.poll(whole));
            assertEquals(1, whole[0].wrId());
            assertEquals(2, whole[1].wrId());
        }
    }

    /** One thread takes the event while another closes the queue: either there was no event to take, or close is refused. */
    @Test
    void shouldNotCloseWithAnEventThatWasTaken() throws Exception {
        try (ExecutorService other = Executors.newSingleThreadExecutor();
                SoftCompletionChannel channel = new SoftCompletionChannel(engine, () -> {})) {
            CyclicBarrier start = new CyclicBarrier(2);
            for (int race = 0; race < RACES; race++) {
                SoftCompletionQueue queue = new SoftCompletionQueue(1, engine, channel, () -> {});
                queue.requestNotification(false);
                push(queue, race);
                Future<Optional<CompletionQueue>> taking = other.submit(() -> {
                    start.await(10, TimeUnit.SECONDS);
                    return channel.await(0);
                });
                start.await(10, TimeUnit.SECONDS);
                boolean closed = true;
                try {
                    queue.close();
                } catch (VerbsException e) {
                    assertEquals(VerbsErrorCode.BUSY, e.code());
                    closed = false;
                }
                boolean taken = taking.get(10, TimeUnit.SECONDS).isPresent();
                assertEquals(!taken, closed, "race " + race + ": event taken " + taken + ", queue closed " + closed);
                queue.acknowledgeEvents(taken ? 1 : 0);
                queue.close();
            }
            assertEquals(0, source.overruns());
        }
    }
}
