package org.softrdma.kv.server.session;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ServerAgent;
import org.softrdma.kv.store.ItemStore;

/**
 * The agent that does what no client should wait for: it flushes, moves pages between slab classes, and once a second
 * reclaims expired items. A step is one task that was asked for, a part of a page, or one round of reclaiming. Whoever
 * asks may do so on any thread.
 */
public final class Maintenance implements ServerAgent {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    /** memcached's default pause between items. */
    private static final long DEFAULT_CRAWL_SLEEP_MICROS = 100;

    /** How often the clock is looked at in the last second before a flush. */
    private static final long FLUSH_TICK_NS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Between two looks at a page that somebody uses. */
    private static final long MOVE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

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

    private final AtomicBoolean lookQueued = new AtomicBoolean();
    private final AtomicBoolean crawlQueued = new AtomicBoolean();
    private volatile boolean crawlRunning;
    private volatile boolean crawling;
    private volatile long mostToCrawl;
    private volatile long crawlSleepMicros = DEFAULT_CRAWL_SLEEP_MICROS;
    private final LongAdder crawls = new LongAdder();
    private final LongAdder rounds = new LongAdder();
    private volatile Runnable everyRound = () -> {};
    private int nextPart;
    private long movePauseNs;
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
        store.mover().onAsked(() -> tasks.add(() -> {})); // so that whoever waits looks again
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
        if (store.mover().isMoving()) {
            waitNs = Math.min(waitNs, movePauseNs);
        }
        Runnable task = waitNs > 0 ? store.turns().poll(tasks, waitNs) : tasks.poll();
        int work = 0;
        if (task != null) {
            guarded(task);
            work++;
        }
        if (store.mover().isMoving()) {
            guarded(this::movePages);
            work++;
        }
        long nowNs = nanoClock.nanoTime();
        DelayedFlush flush = delayedFlush.get();
        if (flush != null && clockSeconds.getAsLong() >= flush.atSeconds && delayedFlush.compareAndSet(flush, null)) {
            guarded(store::flush);
            work++;
        }
        if (nowNs - nextRoundNs >= 0) {
            rounds.increment();
            guarded(this::reclaim);
            guarded(everyRound);
            nextRoundNs = nanoClock.nanoTime() + ROUND_NS;
            work++;
        }
        return work;
    }

    /** When to flush, on the clock by which items expire. */
    private record DelayedFlush(long atSeconds) {}

    /** How long until something is due; 0 or less if it is. */
    private long dueInNs(long nowNs) {
        DelayedFlush flush = delayedFlush.get();
        long roundInNs = nextRoundNs - nowNs;
        if (flush == null) {
            return roundInNs;
        }
        // That clock shows whole seconds: of the last one before the flush nobody knows how much is left.
        long secondsLeft = flush.atSeconds - clockSeconds.getAsLong();
        return Math.min(
                roundInNs, secondsLeft <= 0 ? 0 : Math.max(FLUSH_TICK_NS, TimeUnit.SECONDS.toNanos(secondsLeft - 1)));
    }

    /** Flushes, then says so. A flush that was to come later no longer will. Any thread. */
    void flush(Runnable done) {
        flushNoMore();
        tasks.add(() -> {
            if (guarded(store::flush)) {
                guarded(done);
            }
        });
    }

    /** Flushes at a time in the future, of which only the last one counts. Any thread. */
    void flushAt(long seconds) {
        delayedFlush.set(new DelayedFlush(seconds));
        if (!lookQueued.getAndSet(true)) {
            tasks.add(() -> lookQueued.set(false)); // whoever waits looks at the clock again
        }
    }

    /** A flush that was to come later no longer will. Any thread. */
    void flushNoMore() {
        delayedFlush.set(null);
    }

    /** Runs a task that takes a while. Any thread. */
    void run(Runnable task) {
        tasks.add(task);
    }

    /** Whether each round looks at the ends of the LRU lists. */
    boolean areTailsReclaimed() {
        return tailsReclaimed;
    }

    /** Sets what {@code stats settings} says of the most items to crawl; a crawl looks at all. Any thread. */
    void crawlAtMost(long items) {
        mostToCrawl = items;
    }

    /** What {@link #crawlAtMost} has set. */
    public long mostToCrawl() {
        return mostToCrawl;
    }

    /** Sets what {@code stats settings} says of the pause between items; rounds set the pace. Any thread. */
    void crawlSleepMicros(long micros) {
        crawlSleepMicros = micros;
    }

    /** What {@link #crawlSleepMicros(long)} has set. */
    public long crawlSleepMicros() {
        return crawlSleepMicros;
    }

    /** How often {@link #crawl} was begun. */
    long crawls() {
        return crawls.sum();
    }

    /** How many rounds there were. */
    long rounds() {
        return rounds.sum();
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
                crawls.increment();
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

    private void movePages() {
        long nowSeconds = clockSeconds.getAsLong();
        movePauseNs = store.mover().step(nowSeconds) ? 0 : MOVE_PAUSE_NS;
        if (!store.mover().isMoving() && store.balance().isReclaiming()) {
            store.balance().round(nowSeconds, false);
        }
    }

    private void reclaim() {
        if (tailsReclaimed) {
            store.reclaimTails(clockSeconds.getAsLong());
            store.balance().round(clockSeconds.getAsLong(), true);
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
            LOG.error("maintenance failed; it continues", e);
        } catch (Error e) {
            fatalErrors.accept(e); // who runs the agent would only log it
            return false;
        }
        return true;
    }
}
