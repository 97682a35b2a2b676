package org.softrdma.ibverbs.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.DeviceEvent;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Each event is given once, in order; those of closed objects, and the oldest of too many, are not given. */
@Timeout(60)
class DriverEventsTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(30);

    private final DriverEvents events = new DriverEvents();

    private static DeviceEvent event(int number) {
        return new DeviceEvent(DeviceEvent.Kind.OTHER, "event " + number);
    }

    private void expect(int number) {
        assertEquals(Optional.of(event(number)), events.await(0));
    }

    @Test
    void shouldGiveEachOnceAndInOrder() {
        assertEquals(Optional.empty(), events.await(0));
        events.add(event(1), () -> true);
        events.add(event(2), () -> true);
        expect(1);
        expect(2);
        assertEquals(Optional.empty(), events.await(0));
    }

    @Test
    void shouldDropThoseOfWhatWasClosedMeanwhile() {
        AtomicBoolean open = new AtomicBoolean(true);
        events.add(event(1), open::get);
        events.add(event(2), () -> true);
        open.set(false);
        expect(2);
    }

    @Test
    void shouldDropTheOldestWhenNobodyTakesThem() {
        for (int i = 0; i < DriverEvents.MOST + 3; i++) {
            events.add(event(i), () -> true);
        }
        for (int i = 3; i < DriverEvents.MOST + 3; i++) {
            expect(i);
        }
        assertEquals(Optional.empty(), events.await(0));
    }

    @Test
    void shouldWakeWhoWaits() {
        CompletableFuture<Optional<AsyncEvent>> waiting = CompletableFuture.supplyAsync(() -> events.await(LONG_NS));
        events.add(event(1), () -> true);
        assertEquals(Optional.of(event(1)), waiting.join());
    }

    @Test
    void shouldEndEveryWaitWhenTheDeviceIsClosed() {
        CompletableFuture<Optional<AsyncEvent>> first = CompletableFuture.supplyAsync(() -> events.await(LONG_NS));
        CompletableFuture<Optional<AsyncEvent>> second = CompletableFuture.supplyAsync(() -> events.await(LONG_NS));
        events.close();
        assertEquals(Optional.empty(), first.join());
        assertEquals(Optional.empty(), second.join());
    }

    @Test
    void shouldLoseNoEventWhenAnInterruptEndsTheWait() {
        Thread.currentThread().interrupt();
        VerbsException ended = assertThrows(VerbsException.class, () -> events.await(LONG_NS));
        assertEquals(VerbsErrorCode.INTERRUPTED, ended.code());
        assertTrue(Thread.currentThread().isInterrupted());
        events.add(event(1), () -> true);
        expect(1);
        assertTrue(Thread.interrupted(), "the flag stays set");
    }
}
