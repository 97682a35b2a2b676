package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent.Kind;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

class AsyncEventsTest {
    private static final long LONG_NS = TimeUnit.HOURS.toNanos(1);
    private static final int DEADLINE_S = 30;
    private static final int WAITERS = 8;

    private final AsyncEvents events = new AsyncEvents(new StillProgress());
    private final AsyncEvents threaded = new AsyncEvents(new ThreadedProgress());
    private final QueuePair pair = mock(QueuePair.class);
    private final QueuePair other = mock(QueuePair.class);
    private final CompletionQueue completions = mock(CompletionQueue.class);
    private final SharedReceiveQueue shared = mock(SharedReceiveQueue.class);

    private List<AsyncEvent> all() {
        List<AsyncEvent> all = new ArrayList<>();
        for (Optional<AsyncEvent> event = events.await(0); event.isPresent(); event = events.await(0)) {
            all.add(event.get());
        }
        return all;
    }

    @Test
    void shouldGiveEachEventOnceOldestFirst() {
        assertEquals(Optional.empty(), events.await(0));
        events.raise(pair, Kind.ACCESS_ERROR);
        events.overrun(completions);
        events.raise(shared, SharedReceiveQueueEvent.Kind.LIMIT_REACHED);
        events.raise(other, Kind.LAST_REQUEST_REACHED);
        assertEquals(
                List.of(
                        new QueuePairEvent(pair, Kind.ACCESS_ERROR),
                        new CompletionQueueEvent(completions),
                        new SharedReceiveQueueEvent(shared, SharedReceiveQueueEvent.Kind.LIMIT_REACHED),
                        new QueuePairEvent(other, Kind.LAST_REQUEST_REACHED)),
                all());
        assertEquals(Optional.empty(), events.await(0));
    }

    @Test
    void shouldDropTheOldestWhenNobodyTakesThem() {
        events.raise(pair, Kind.FATAL);
        for (int i = 0; i < AsyncEvents.CAPACITY - 1; i++) {
            events.overrun(completions);
        }
        events.raise(other, Kind.REQUEST_ERROR);
        List<AsyncEvent> all = all();
        assertEquals(AsyncEvents.CAPACITY, all.size());
        assertEquals(new CompletionQueueEvent(completions), all.getFirst());
        assertEquals(new QueuePairEvent(other, Kind.REQUEST_ERROR), all.getLast());
    }

    @Test
    void shouldForgetWhatIsClosedAndKeepTheOrderOfTheRest() {
        for (int round = 0; round < 3 * AsyncEvents.CAPACITY; round++) {
            events.raise(pair, Kind.ACCESS_ERROR);
            events.overrun(completions);
            events.raise(pair, Kind.LAST_REQUEST_REACHED);
            events.raise(other, Kind.FATAL);
            events.forget(pair);
            assertEquals(List.of(new CompletionQueueEvent(completions), new QueuePairEvent(other, Kind.FATAL)), all());
        }
    }

    @Test
    void shouldWakeOneThreadForEachEvent() throws Exception {
        List<CompletableFuture<Optional<AsyncEvent>>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(CompletableFuture.supplyAsync(() -> threaded.await(LONG_NS), Thread::startVirtualThread));
        }
        for (int i = 0; i < WAITERS; i++) {
            threaded.raise(i % 2 == 0 ? pair : other, Kind.FATAL);
        }
        int ofPair = 0;
        for (CompletableFuture<Optional<AsyncEvent>> one : waiting) {
            QueuePairEvent event = assertInstanceOf(
                    QueuePairEvent.class, one.get(DEADLINE_S, TimeUnit.SECONDS).orElseThrow());
            ofPair += event.queuePair() == pair ? 1 : 0;
        }
        assertEquals(WAITERS / 2, ofPair);
        assertEquals(Optional.empty(), threaded.await(0));
    }

    @Test
    void shouldEndAWaitByAnInterruptAndLoseNothing() throws Exception {
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            try {
                threaded.await(LONG_NS);
                flag.complete(false);
            } catch (VerbsException e) {
                flag.complete(e.code() == VerbsErrorCode.INTERRUPTED
                        && Thread.currentThread().isInterrupted());
            }
        });
        waiter.interrupt();
        assertTrue(flag.get(DEADLINE_S, TimeUnit.SECONDS));
        threaded.raise(pair, Kind.FATAL);
        assertEquals(Optional.of(new QueuePairEvent(pair, Kind.FATAL)), threaded.await(0));
    }

    @Test
    void shouldEndEveryWaitWhenTheDeviceIsClosed() {
        List<CompletableFuture<Optional<AsyncEvent>>> waiting = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            waiting.add(CompletableFuture.supplyAsync(() -> threaded.await(LONG_NS), Thread::startVirtualThread));
        }
        threaded.close();
        for (CompletableFuture<Optional<AsyncEvent>> one : waiting) {
            ExecutionException ended =
                    assertThrows(ExecutionException.class, () -> one.get(DEADLINE_S, TimeUnit.SECONDS));
            assertInstanceOf(IllegalStateException.class, ended.getCause());
        }
    }
}
