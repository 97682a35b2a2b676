package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QuiescenceTest {
    private static final int LOOKS = 1000;
    private static final long DEADLINE_SECONDS = 30;

    private final Quiescence quiescence = new Quiescence();
    private final Quiescence.Epoch epoch = quiescence.newEpoch();
    private final ExecutorService engine = Executors.newSingleThreadExecutor();

    @AfterEach
    void endEngine() {
        engine.shutdownNow();
    }

    @Test
    void shouldWaitForTheEndOfTheBatchThatRuns() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        epoch.enter();
        CompletableFuture<Boolean> endedBefore = CompletableFuture.supplyAsync(
                () -> {
                    begun.countDown();
                    quiescence.await();
                    return ended.get();
                },
                task -> Thread.ofPlatform().daemon().start(task));
        assertTrue(begun.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
        for (int i = 0; i < LOOKS; i++) {
            assertTrue(!endedBefore.isDone(), "returned while the batch was running");
            Thread.yield();
        }
        ended.set(true);
        epoch.exit();
        assertTrue(endedBefore.get(DEADLINE_SECONDS, TimeUnit.SECONDS), "returned before the batch had ended");
    }

    @Test
    void shouldTellWhenTheBatchesOfOthersHaveEnded() throws Exception {
        Quiescence.Grace grace = quiescence.newGrace();
        assertTrue(grace.isOver(), "nothing was begun");
        inAnotherThread(epoch::enter);
        grace.begin();
        assertTrue(!grace.isOver(), "the batch runs");
        // Its own thread begins for something else, which its batch does not keep: the first still waits for it.
        inAnotherThread(grace::begin);
        assertTrue(!grace.isOver(), "the batch runs");
        inAnotherThread(epoch::exit);
        assertTrue(grace.isOver(), "the batch has ended");
        inAnotherThread(epoch::enter);
        assertTrue(grace.isOver(), "a later batch does not matter");
        inAnotherThread(() -> {
            grace.begin();
            assertTrue(grace.isOver(), "one's own batch does not matter");
            epoch.exit();
        });
    }

    /** All in one thread, which is an engine's. */
    private void inAnotherThread(Runnable task) throws Exception {
        engine.submit(task).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldNotWaitWhenNoBatchRuns() {
        quiescence.await();
        epoch.enter();
        epoch.exit();
        quiescence.await();
    }

    @Test
    void shouldNumberEachBatchAnew() {
        epoch.enter();
        long first = epoch.current();
        epoch.enter();
        assertEquals(first, epoch.current(), "a batch within a batch is the same batch");
        epoch.exit();
        epoch.exit();
        epoch.enter();
        assertNotEquals(first, epoch.current());
        epoch.exit();
    }

    @Test
    void shouldForgetWhatTheBatchWasGrantedWhenItsOwnThreadWaits() {
        epoch.enter();
        long before = epoch.current();
        quiescence.await();
        assertNotEquals(before, epoch.current(), "grants of before the deregistration still hold");
        epoch.exit();
    }
}
