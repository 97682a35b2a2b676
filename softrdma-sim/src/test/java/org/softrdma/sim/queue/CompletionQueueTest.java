package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

class CompletionQueueTest {
    private static final int RACES = 20_000;

    /** Threads of the device's own: nothing to drive. */
    private static final Progress ENGINE = new Progress() {
        @Override
        public boolean isManual() {
            return false;
        }

        @Override
        public boolean isThreaded() {
            return true;
        }

        @Override
        public void checkThread() {
            // Any thread may call.
        }

        @Override
        public void settle(CompletableFuture<?> future) {
            throw new AssertionError("nobody waits here");
        }

        @Override
        public void poll() {
            throw new AssertionError("nobody drives an engine");
        }

        @Override
        public void send() {
            throw new AssertionError("nobody drives an engine");
        }

        @Override
        public boolean runUntil(BooleanSupplier condition, long timeoutNs) {
            throw new AssertionError("nobody drives an engine");
        }
    };

    private static final CompletionSource SOURCE = new CompletionSource() {
        @Override
        public int number() {
            return 7;
        }

        @Override
        public void releaseSendSlots(long sequence) {
            // Its send queue is not looked at.
        }

        @Override
        public void releaseReceiveSlots(long sequence) {
            // Nor its receive queue.
        }

        @Override
        public void completionQueueOverrun() {
            throw new AssertionError("overrun");
        }
    };

    private static void push(SoftCompletionQueue queue, long wrId) {
        queue.push(SOURCE, wrId, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 1, 0, 0, false);
    }

    @Test
    void shouldRefuseAnArrayWithAHoleAndLoseNothing() {
        try (SoftCompletionQueue queue = new SoftCompletionQueue(4, ENGINE, null, () -> {})) {
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
                SoftCompletionChannel channel = new SoftCompletionChannel(ENGINE, () -> {})) {
            CyclicBarrier start = new CyclicBarrier(2);
            for (int race = 0; race < RACES; race++) {
                SoftCompletionQueue queue = new SoftCompletionQueue(1, ENGINE, channel, () -> {});
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
        }
    }
}
