package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.store.ArenaSource;
import org.softrdma.kv.store.ItemArena;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;

/** What clients ask of the maintenance thread again and again does not pile up. */
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
    private final ScheduledThreadPoolExecutor executor = new PlatformThreads().scheduler("kv-maintenance");
    private final List<Throwable> fatal = new CopyOnWriteArrayList<>();
    private final Maintenance maintenance = new Maintenance(store, () -> NOW, true, true, executor, fatal::add);

    @AfterEach
    void close() {
        maintenance.close();
    }

    @Test
    void shouldKeepOnlyTheLastFlushOfTheFuture() {
        for (int i = 0; i < 1000; i++) {
            maintenance.flushAt(NOW + 2_500_000);
        }
        assertEquals(1, executor.getQueue().size());
    }

    @Test
    void shouldCrawlOnceForAllWhoAskBeforeItBegins() throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch began = new CountDownLatch(1);
        executor.execute(() -> {
            began.countDown();
            awaitQuietly(busy);
        });
        began.await();
        for (int i = 0; i < 1000; i++) {
            maintenance.crawl();
        }
        assertEquals(1, executor.getQueue().size());
        assertTrue(maintenance.isCrawlAsked());
        CountDownLatch behind = new CountDownLatch(1);
        executor.execute(behind::countDown);
        busy.countDown();
        assertTrue(behind.await(20, TimeUnit.SECONDS));
        assertFalse(maintenance.isCrawlAsked());
    }

    @Test
    void shouldSayThatItHasFailedWhenATaskEndsWithAnError() throws InterruptedException {
        AssertionError error = new AssertionError("injected");
        CountDownLatch thrown = new CountDownLatch(1);
        maintenance.start(() -> {
            thrown.countDown();
            throw error;
        });
        assertTrue(thrown.await(20, TimeUnit.SECONDS));
        CountDownLatch behind = new CountDownLatch(1);
        executor.execute(behind::countDown);
        assertTrue(behind.await(20, TimeUnit.SECONDS));
        assertEquals(List.of(error), fatal);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the test has failed
        }
    }
}
