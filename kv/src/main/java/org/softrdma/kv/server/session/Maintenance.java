package org.softrdma.kv.server.session;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ServerAgent;
import org.softrdma.kv.store.ItemStore;

/**
 * The agent that does what no client should wait for: it flushes, and once a second reclaims expired items. A step is
 * one task that was asked for, or one round of reclaiming. Whoever asks may do so on any thread.
 */
public final class Maintenance implements ServerAgent {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    private static final long ROUND_NS = TimeUnit.SECONDS.toNanos(1);

    /** An expired item is reclaimed within a minute, even if nobody asks for it. */
    private static final int ROUNDS_PER_STORE = 60;

    private final ItemStore store;
    private final LongSupplier clockSeconds;
    private final NanoClock nanoClock;
    private final boolean tailsReclaimed;
    private final Consumer<Throwable> fatalErrors;
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    /** The flush that is to come later, or null. */
    private final AtomicReference<@Nullable DelayedFlush> delayedFlush = new AtomicReference<>();

    private final AtomicBoolean crawlQueued = new AtomicBoolean();
    private volatile boolean crawlRunning;
    private volatile boolean crawling;
    private volatile Runnable everyRound = () -> {};
    private int nextPart;
    private long nextRoundNs;

    /**
     * One whose first round is a second from now.
     *
     * @param clockSeconds the clock by which items expire
     * @param nanoClock the clock of rounds and delays
     * @param tailsReclaimed whether each round looks at the ends of the LRU lists
     * @param crawling whether each round looks at a part of all items; see {@link #crawling(boolean)}
     * @param fatalErrors told of each Error
     */
    public Maintenance(
            ItemStore store,
            LongSupplier clockSeconds,
            NanoClock nanoClock,
            boolean tailsReclaimed,
            boolean crawling,
            Consumer<Throwable> fatalErrors) {
        this.store = store;
        this.clockSeconds = clockSeconds;
        this.nanoClock = nanoClock;
        this.tailsReclaimed = tailsReclaimed;
        this.crawling = crawling;
        this.fatalErrors = fatalErrors;
        this.nextRoundNs = nanoClock.nanoTime() + ROUND_NS;
    }

    /** Sets what else is done in every round. Any thread. */
    public void everyRound(Runnable task) {
        everyRound = task;
    }

    @Override
    public String roleName() {
        return "kv-maintenance";
    }

    @Override
    public int doWork(long timeoutNs) throws InterruptedException {
        long waitNs = Math.min(timeoutNs, dueInNs(nanoClock.nanoTime()));
        Runnable task = waitNs > 0 ? store.turns().poll(tasks, waitNs) : tasks.poll();
        int work = 0;
        if (task != null) {
            guarded(task);
            work++;
        }
        long nowNs = nanoClock.nanoTime();
        DelayedFlush flush = delayedFlush.get();
        if (flush != null && nowNs - flush.atNs >= 0 && delayedFlush.compareAndSet(flush, null)) {
            guarded(store::flush);
            work++;
        }
        if (nowNs - nextRoundNs >= 0) {
            guarded(this::reclaim);
            guarded(everyRound);
            nextRoundNs = nanoClock.nanoTime() + ROUND_NS;
            work++;
        }
        return work;
    }

    /** When to flush, on the nano clock. */
    private record DelayedFlush(long atNs) {}

    /** How long until something is due; 0 or less if it is. */
    private long dueInNs(long nowNs) {
        DelayedFlush flush = delayedFlush.get();
        long roundInNs = nextRoundNs - nowNs;
        return flush == null ? roundInNs : Math.min(roundInNs, flush.atNs - nowNs);
    }

    /** Flushes, then says so. A flush that was to come later no longer will. Any thread. */
    void flush(Runnable done) {
        delayedFlush.set(null);
        tasks.add(() -> {
            if (guarded(store::flush)) {
                guarded(done);
            }
        });
    }

    /** Flushes at a time in the future, of which only the last one counts. Any thread. */
    void flushAt(long seconds) {
        long delaySeconds = Math.max(0, seconds - clockSeconds.getAsLong());
        delayedFlush.set(new DelayedFlush(nanoClock.nanoTime() + TimeUnit.SECONDS.toNanos(delaySeconds)));
    }

    /** Sets whether each round looks for expired items among a part of all items. Any thread. */
    void crawling(boolean on) {
        crawling = on;
    }

    /** What {@link #crawling(boolean)} has set. */
    public boolean isCrawling() {
        return crawling;
    }

    /** True from {@link #crawl} until that is done. */
    boolean isCrawlAsked() {
        return crawlQueued.get() || crawlRunning;
    }

    /** Removes all expired items soon, once for all who ask before it begins. Any thread. */
    void crawl() {
        if (!crawlQueued.getAndSet(true)) {
            tasks.add(() -> {
                crawlRunning = true;
                crawlQueued.set(false);
                guarded(() -> reclaim(store.parts()));
                crawlRunning = false;
            });
        }
    }

    /** Tasks that wait. */
    int queued() {
        return tasks.size();
    }

    private void reclaim() {
        if (tailsReclaimed) {
            store.reclaimTails(clockSeconds.getAsLong());
        }
        if (crawling) {
            reclaim((store.parts() + ROUNDS_PER_STORE - 1) / ROUNDS_PER_STORE);
        }
    }

    private void reclaim(int parts) {
        long nowSeconds = clockSeconds.getAsLong();
        for (int i = 0; i < parts; i++) {
            store.reclaim(nextPart, nowSeconds);
            nextPart = (nextPart + 1) % store.parts();
        }
    }

    /** False after an Error. */
    private boolean guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            LOG.error("maintenance failed, and goes on", e);
        } catch (Error e) {
            fatalErrors.accept(e); // who runs the agent would only log it
            return false;
        }
        return true;
    }
}
