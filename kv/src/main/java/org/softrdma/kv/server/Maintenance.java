package org.softrdma.kv.server;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.store.ItemStore;

/** The thread that does what no client should wait for: reclaims expired items, flushes. Closed by the server. */
@SuppressWarnings("FutureReturnValueIgnored") // tasks report their own failures
final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    private static final int CLOSE_TIMEOUT_SECONDS = 10;

    /** An expired item is reclaimed a minute after its time at the latest, even if nobody asks for it. */
    private static final int SECONDS_PER_ROUND = 60;

    private final ItemStore store;
    private final LongSupplier clockSeconds;
    private final ScheduledExecutorService executor;
    private final boolean tailsReclaimed;
    private final Consumer<Throwable> fatalErrors;
    private volatile boolean crawling;
    private volatile boolean crawlRunning;
    private final AtomicBoolean crawlQueued = new AtomicBoolean();
    private int nextPart;
    private final AtomicReference<@Nullable ScheduledFuture<?>> delayedFlush = new AtomicReference<>();

    /** Not started yet; the executor is closed with it. */
    Maintenance(
            ItemStore store,
            LongSupplier clockSeconds,
            boolean tailsReclaimed,
            boolean crawling,
            ScheduledExecutorService executor,
            Consumer<Throwable> fatalErrors) {
        this.store = store;
        this.clockSeconds = clockSeconds;
        this.tailsReclaimed = tailsReclaimed;
        this.crawling = crawling;
        this.executor = executor;
        this.fatalErrors = fatalErrors;
    }

    /** Starts to reclaim, and to do something else every second. */
    void start(Runnable everySecond) {
        executor.scheduleWithFixedDelay(() -> guarded(this::reclaim), 1, 1, TimeUnit.SECONDS);
        executor.scheduleWithFixedDelay(() -> guarded(everySecond), 1, 1, TimeUnit.SECONDS);
    }

    /** Flushes, then says so; what was to be flushed later no longer is. Any thread. */
    void flush(Runnable done) {
        replaceDelayed(null);
        executor.execute(() -> {
            guarded(store::flush);
            guarded(done);
        });
    }

    /** Flushes at a time in the future; only the last such request counts. Any thread. */
    void flushAt(long seconds) {
        long delaySeconds = Math.max(0, seconds - clockSeconds.getAsLong());
        replaceDelayed(executor.schedule(() -> guarded(store::flush), delaySeconds, TimeUnit.SECONDS));
    }

    /** Whether expired items are looked for among all items, at leisure. Any thread. */
    void crawling(boolean on) {
        crawling = on;
    }

    /** What {@link #crawling(boolean)} has set. */
    boolean isCrawling() {
        return crawling;
    }

    /** True from {@link #crawl} until that is done. */
    boolean isCrawlAsked() {
        return crawlQueued.get() || crawlRunning;
    }

    /** Removes all expired items, soon; once for all who asked before it begins. Any thread. */
    void crawl() {
        if (!crawlQueued.getAndSet(true)) {
            executor.execute(() -> {
                crawlRunning = true;
                crawlQueued.set(false);
                guarded(() -> reclaim(store.parts()));
                crawlRunning = false;
            });
        }
    }

    private void replaceDelayed(@Nullable ScheduledFuture<?> next) {
        ScheduledFuture<?> scheduled = delayedFlush.getAndSet(next);
        if (scheduled != null) {
            scheduled.cancel(false);
        }
    }

    private void reclaim() {
        if (tailsReclaimed) {
            store.reclaimTails(clockSeconds.getAsLong());
        }
        if (crawling) {
            reclaim((store.parts() + SECONDS_PER_ROUND - 1) / SECONDS_PER_ROUND);
        }
    }

    private void reclaim(int parts) {
        long nowSeconds = clockSeconds.getAsLong();
        for (int i = 0; i < parts; i++) {
            store.reclaim(nextPart, nowSeconds);
            nextPart = (nextPart + 1) % store.parts();
        }
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            LOG.error("maintenance failed, and goes on", e);
        } catch (Error e) {
            fatalErrors.accept(e); // the executor would keep it to itself, and never run the task again
            throw e;
        }
    }

    /** Ends the thread. */
    @Override
    public void close() {
        executor.shutdownNow();
        try {
            if (!executor.awaitTermination(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                LOG.error("the maintenance thread does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
