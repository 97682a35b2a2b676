package org.softrdma.kv.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.PlatformThreads;
import org.softrdma.kv.server.host.ServerThreads;
import org.softrdma.kv.store.ArenaSource;
import org.softrdma.kv.store.ItemArena;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;

/** What clients ask of maintenance again and again does not pile up, and what is due by the clock is done once. */
class MaintenanceTest {
    private static final int MIB = 1 << 20;
    private static final long NOW = 1_000_000;

    private final ArenaSource noArenas = new ArenaSource() {
        @Override
        public ItemArena create(long length) {
            throw new IllegalStateException("nothing is stored");
        }

        @Override
        public long address(long first) {
            return UNKNOWN;
        }
    };
    private final ItemStore store =
            new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, MIB), noArenas, MIB), 1, true);
    private final AtomicLong nowNs = new AtomicLong();
    private final List<Throwable> fatal = new ArrayList<>();
    private final Maintenance maintenance =
            new Maintenance(store, this::nowSeconds, nowNs::get, true, true, fatal::add);

    private long nowSeconds() {
        return NOW + TimeUnit.NANOSECONDS.toSeconds(nowNs.get());
    }

    private void pass(long seconds) {
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    }

    @Test
    void shouldKeepOnlyTheLastFlushOfTheFuture() throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            maintenance.flushAt(NOW + 2_500_000);
        }
        assertEquals(1, maintenance.queued(), "a look at the clock");
        assertEquals(1, maintenance.doWork());
        pass(2_499_999);
        assertEquals(1, maintenance.doWork(), "a round");
        pass(1);
        assertEquals(2, maintenance.doWork(), "the flush, and a round");
        assertEquals(0, maintenance.doWork());
    }

    @Test
    void shouldForgetTheFlushOfTheFutureWhenAFlushIsAskedForNow() throws InterruptedException {
        AtomicInteger done = new AtomicInteger();
        maintenance.flushAt(NOW + 100);
        maintenance.flush(done::incrementAndGet);
        assertEquals(1, maintenance.doWork(), "a look at the clock");
        assertEquals(1, maintenance.doWork(), "the flush");
        assertEquals(1, done.get());
        pass(101);
        assertEquals(1, maintenance.doWork(), "a round, and no flush");
    }

    @Test
    void shouldCrawlOnceForAllWhoAskBeforeItBegins() throws InterruptedException {
        for (int i = 0; i < 1000; i++) {
            maintenance.crawl();
        }
        assertEquals(1, maintenance.queued());
        assertTrue(maintenance.isCrawlAsked());
        assertEquals(1, maintenance.doWork());
        assertFalse(maintenance.isCrawlAsked());
    }

    @Test
    void shouldBeginNoRoundBeforeASecondHasPassed() throws InterruptedException {
        AtomicInteger rounds = new AtomicInteger();
        maintenance.everyRound(rounds::incrementAndGet);
        assertEquals(0, maintenance.doWork());
        for (int i = 1; i <= 3; i++) {
            pass(1);
            assertEquals(1, maintenance.doWork());
            assertEquals(0, maintenance.doWork());
            assertEquals(i, rounds.get());
        }
    }

    @Test
    void shouldSayThatItHasFailedWhenATaskEndsWithAnError() throws InterruptedException {
        AssertionError error = new AssertionError("injected");
        maintenance.everyRound(() -> {
            throw error;
        });
        pass(1);
        assertEquals(1, maintenance.doWork());
        assertEquals(List.of(error), fatal);
        pass(1);
        assertEquals(1, maintenance.doWork(), "the next round comes all the same");
        assertEquals(List.of(error, error), fatal);
    }

    /** A task that is given while the agent waits is not left until the end of the wait. */
    @Test
    void shouldWakeForATask() throws InterruptedException {
        CountDownLatch flushed = new CountDownLatch(1);
        try (ServerThreads.Running running = new PlatformThreads().start(maintenance)) {
            assertNotNull(running);
            maintenance.flush(flushed::countDown);
            assertTrue(flushed.await(20, TimeUnit.SECONDS));
        }
    }
}
