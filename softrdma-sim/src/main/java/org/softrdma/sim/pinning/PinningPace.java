package org.softrdma.sim.pinning;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Keeps engines from spending their time on pinning where that cannot succeed: when the kernel refuses, and, under a budget that
 * nobody has chosen, when what is used does not fit and each access would evict what the next one needs. Then engines go without
 * pinning until the present window of time is over; an access costs them a look at the clock.
 *
 * <p>Threads: {@link #isQuiet} is called by engines without a lock, the rest under {@link PinTable}'s lock.
 */
final class PinningPace {
    static final long WINDOW_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Evictions in a window: some 30 microseconds each, so a few percent of a core. */
    static final int MOST_EVICTIONS = 100;

    private final LongSupplier clockNs;
    private final boolean limited;
    private volatile long quietUntilNs;
    private long windowStartNs;
    private int evictions;

    /**
     * Nothing was evicted or refused.
     *
     * @param clockNs nanoseconds since any time
     * @param limited evictions are limited
     */
    PinningPace(LongSupplier clockNs, boolean limited) {
        this.clockNs = clockNs;
        this.limited = limited;
        windowStartNs = clockNs.getAsLong();
        quietUntilNs = windowStartNs;
    }

    /** True if engines are to go without pinning now. */
    boolean isQuiet() {
        return clockNs.getAsLong() - quietUntilNs < 0;
    }

    /** Counts an eviction for an engine; false if there were enough in this window. */
    boolean mayEvict() {
        if (!limited) {
            return true;
        }
        long nowNs = clockNs.getAsLong();
        if (nowNs - windowStartNs >= WINDOW_NS) {
            windowStartNs = nowNs;
            evictions = 0;
        }
        if (evictions < MOST_EVICTIONS) {
            evictions++;
            return true;
        }
        quietUntilNs = windowStartNs + WINDOW_NS;
        return false;
    }

    /** The kernel has refused, and nothing could be evicted for it. */
    void refused() {
        quietUntilNs = clockNs.getAsLong() + WINDOW_NS;
    }
}
